#pragma once
#include <exception>
#include <functional>
#include <string>

namespace trainrt {

/// How long something is tried again that may pass. Pauses double from the first to the longest.
struct RetryLimits {
  double limit_s = 0;  ///< from the first failure on; 0: not at all
  double first_pause_s = 0.1;
  double longest_pause_s = 2;
  std::function<double()> now;                          ///< monotonic seconds; empty: the machine's
  std::function<void(double)> pause;                    ///< empty: this thread sleeps
  std::function<void(const std::string& text)> notify;  ///< once when it starts to wait, and once when it is well again
};

/// Calls `work` again while it throws what `may_pass`, until the limit is reached: then the last error goes on.
/// `what` is said in the messages: "storage". From any thread.
void retry(const std::string& what, const std::function<void()>& work,
           const std::function<bool(const std::exception&)>& may_pass, const RetryLimits& limits);

}  // namespace trainrt
