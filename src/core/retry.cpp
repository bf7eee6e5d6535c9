#include "core/retry.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "core/host.hpp"

namespace trainrt {

namespace {

void sleep_for(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// The state of one call of retry(): pauses between the calls of `work`, and notifications.
class Wait {
 public:
  Wait(const std::string& what, const RetryLimits& limits)
      : what_(what), limits_(limits), now_(limits.now ? limits.now : monotonic_seconds), pause_s_(limits.first_pause_s) {}

  /// Handles a failure of `work`: notifies of the first failure, then sleeps until the next call of `work`. Returns false,
  /// without sleeping, if the time limit is reached.
  bool pause_after(const std::exception& error) {
    if (began_s_ < 0) began_s_ = now_();
    const double left_s = limits_.limit_s - (now_() - began_s_);
    if (left_s <= 0) return false;
    if (!notified_)
      notify(fmt::format("{} does not answer: {}; trying again for {:.0f} s", what_, error.what(), limits_.limit_s));
    notified_ = true;
    const double pause_s = std::min(pause_s_, left_s);
    limits_.pause ? limits_.pause(pause_s) : sleep_for(pause_s);
    pause_s_ = std::min(2 * pause_s_, limits_.max_pause_s);
    return true;
  }

  void note_success() const {
    if (notified_) notify(fmt::format("{} answers again, after {:.1f} s", what_, now_() - began_s_));
  }

 private:
  void notify(const std::string& text) const {
    if (limits_.notify) limits_.notify(text);
  }

  const std::string& what_;
  const RetryLimits& limits_;
  std::function<double()> now_;
  double pause_s_;
  double began_s_ = -1;
  bool notified_ = false;
};

}  // namespace

void retry(const std::string& what, const std::function<void()>& work,
           const std::function<bool(const std::exception&)>& is_temporary, const RetryLimits& limits) {
  for (Wait wait(what, limits);;) {
    try {
      work();
      wait.note_success();
      return;
    } catch (const std::exception& error) {
      if (!is_temporary(error) || !wait.pause_after(error)) throw;
    }
  }
}

}  // namespace trainrt
