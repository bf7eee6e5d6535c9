#pragma once
#include <csignal>

namespace trainrt::frameworks::trees {

/// While the object exists, blocks the signals that stop a run, in this thread and in the threads that it starts.
/// Another thread handles these signals, or this thread handles them afterwards. This is necessary because XGBoost 1.7
/// treats a system call that a signal has interrupted as a broken connection.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t stops;
    sigemptyset(&stops);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&stops, number);
    pthread_sigmask(SIG_BLOCK, &stops, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace trainrt::frameworks::trees
