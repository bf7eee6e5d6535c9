#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::program {

/// Whether a caller of a service may be served, judged by the bytes that it has sent so far.
enum class Admission { pending, granted, refused };

// One function for each protocol. Each looks for the secret in `received`, all bytes that a caller has sent so far. A
// caller that is granted or refused remains so whatever follows. No function keeps anything, and bytes that are no greeting
// are refused. Pure.

/// For messages that begin with the secret.
Admission admission_by_beginning(std::string_view received, std::string_view secret);

/// For HTTP requests whose path begins with "/SECRET:".
Admission admission_by_path(std::string_view received, std::string_view secret);

/// For workers of XGBoost, whose task id is "RANK-SECRET": after the magic number the numbers and texts of rabit, or an
/// object of JSON.
Admission admission_by_task(std::string_view received, std::string_view secret);

/// The first number that a worker of XGBoost sends, and gets before it goes on.
constexpr std::int32_t xgboost_magic_number = 0xff99;

/// Returns the rank in a task id; nothing if it does not end with the secret.
std::optional<std::string> rank_in_task(std::string_view task, std::string_view secret);

}  // namespace trainrt::program
