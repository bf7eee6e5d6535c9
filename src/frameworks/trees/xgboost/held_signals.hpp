#pragma once
#include <csignal>

namespace trainrt::frameworks::trees {

/// Keeps the signals that stop a run away from this thread, and from those that it starts meanwhile, as long as this lives;
/// another thread takes them, or this one afterwards. XGBoost 1.7 takes a call that a signal has interrupted for a broken
/// connection.
class HeldSignals {
 public:
  HeldSignals() {
    sigset_t stops;
    sigemptyset(&stops);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&stops, number);
    pthread_sigmask(SIG_BLOCK, &stops, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace trainrt::frameworks::trees
