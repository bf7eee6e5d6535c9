#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::program {

/// Whether a service may serve a caller. The decision depends on the bytes that the caller has sent so far.
enum class Admission { pending, granted, refused };

// The functions admission_by_*() decide whether a service may serve a caller, each for one protocol. `received`
// contains all bytes that the caller has sent so far, and the function searches them for the secret. It returns
// `refused` if the bytes cannot be the beginning of a valid message. A decision other than `pending` does not change
// when more bytes arrive. Pure functions.

/// Decides whether to serve a caller, for a protocol in which the caller sends the secret first.
Admission admission_by_beginning(std::string_view received, std::string_view secret);

/// Decides whether to serve an HTTP request: its path must begin with "/SECRET:".
Admission admission_by_path(std::string_view received, std::string_view secret);

/// Decides whether to serve a worker of XGBoost: its task id must be "RANK-SECRET". The worker sends the magic number,
/// and then either the numbers and strings of XGBoost's older protocol, rabit, or a JSON object.
Admission admission_by_task(std::string_view received, std::string_view secret);

/// The first number that a worker of XGBoost sends to a tracker. The worker waits until the tracker returns this
/// number.
constexpr std::int32_t xgboost_magic_number = 0xff99;

/// Returns the rank in the task id "RANK-SECRET" of an XGBoost worker, or nothing if the task id does not contain the
/// secret.
std::optional<std::string> rank_in_task(std::string_view task, std::string_view secret);

}  // namespace trainrt::program
