#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// Time limit and pauses of retry(). The pause after each failure doubles, from `first_pause_s` to `max_pause_s`.
struct RetryLimits {
  double limit_s = 0;  ///< seconds after the first failure during which retry() tries again; 0: no retry
  double first_pause_s = 0.1;
  double max_pause_s = 2;
  std::function<double()> now;        ///< returns the seconds of a monotonic clock; default: monotonic_seconds()
  std::function<void(double)> pause;  ///< sleeps for the given seconds; default: the calling thread sleeps
  std::function<void(const std::string& text)> notify;  ///< receives a message before the first retry and after a success
};

/// Calls `work`, and calls it again while it throws an error for which `is_temporary` returns true. When the time limit is
/// reached, throws the last of these errors. Throws any other error at once. `what` names the failing subject in the
/// messages for `limits.notify`, for example "storage". Thread-safe.
void retry(const std::string& what, const std::function<void()>& work,
           const std::function<bool(const std::exception&)>& is_temporary, const RetryLimits& limits);

}  // namespace trainrt
