#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::program {

/// Whether a service may serve a caller, judged by the bytes that the caller has sent so far.
enum class Admission { pending, granted, refused };

// One function for each protocol. `received` contains all bytes that the caller has sent so far; each function searches it
// for the secret. Bytes that cannot be the beginning of a greeting are refused. A decision other than `pending` does not
// change when more bytes arrive. Pure functions.

/// For messages that begin with the secret.
Admission admission_by_beginning(std::string_view received, std::string_view secret);

/// For HTTP requests whose path begins with "/SECRET:".
Admission admission_by_path(std::string_view received, std::string_view secret);

/// For workers of XGBoost, whose task id is "RANK-SECRET". The magic number is followed by the numbers and texts of rabit,
/// or by a JSON object.
Admission admission_by_task(std::string_view received, std::string_view secret);

/// First number that a worker of XGBoost sends. The worker waits until the tracker returns the same number.
constexpr std::int32_t xgboost_magic_number = 0xff99;

/// Returns the rank in a task id, or nothing if the id does not end with the secret.
std::optional<std::string> rank_in_task(std::string_view task, std::string_view secret);

}  // namespace trainrt::program
