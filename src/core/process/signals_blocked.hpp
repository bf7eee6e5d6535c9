#pragma once
#include <csignal>
#include <initializer_list>

namespace trainrt {

/// Blocks the signals of the calling thread while an object exists. A thread that is started meanwhile inherits the blocked
/// signals. Needed around vfork(): the child process shares the memory of this process, and must not run its signal
/// handlers.
class SignalsBlocked {
 public:
  /// Blocks all signals of the calling thread except `unblocked`.
  explicit SignalsBlocked(std::initializer_list<int> unblocked = {}) {
    sigset_t all;
    sigfillset(&all);
    for (const int number : unblocked) sigdelset(&all, number);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace trainrt
