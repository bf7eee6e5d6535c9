#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// How long and how often retry() repeats failed work. Pauses double from the first to the maximum.
struct RetryLimits {
  double limit_s = 0;  ///< seconds after the first failure; 0: no retry
  double first_pause_s = 0.1;
  double max_pause_s = 2;
  std::function<double()> now;                          ///< monotonic seconds; empty: monotonic_seconds()
  std::function<void(double)> pause;                    ///< sleeps; empty: this thread sleeps
  std::function<void(const std::string& text)> notify;  ///< gets a text before the first retry and after a success
};

/// Calls `work`, and calls it again while it throws an error for which `is_temporary` returns true. Throws the last error
/// once the limit is reached, and any other error at once. `what` is the subject of the texts for `notify`: "storage". Any
/// thread may call it.
void retry(const std::string& what, const std::function<void()>& work,
           const std::function<bool(const std::exception&)>& is_temporary, const RetryLimits& limits);

}  // namespace trainrt
