#pragma once

namespace trainrt::batch {

/// Blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD in this process and queues them, so that no signal is lost
/// or interrupts the program. A stop signal that is ignored when this object is created stays ignored. It must be created
/// before any other thread starts. The signals stay blocked after its destruction, so that the process still ends with its
/// exit code.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Returns a descriptor that poll() reports as readable while a signal is queued.
  int fd() const { return fd_; }
  /// Removes and returns the next signal; 0 if the queue is empty. Does not block.
  int take();
  /// Waits up to `seconds` for a stop signal and returns it; 0 after that time. SIGCHLD is discarded.
  int wait(double seconds);

 private:
  int fd_;
};

}  // namespace trainrt::batch
