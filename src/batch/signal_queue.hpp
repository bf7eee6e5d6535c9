#pragma once

namespace trainrt::batch {

/// Holds SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 and SIGCHLD back from this process while it lives, and hands them out:
/// none is lost, and none comes between two lines. A stop signal that is ignored when this is made stays ignored. To be
/// made before any other thread starts.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Readable while a signal waits (poll).
  int fd() const { return fd_; }
  /// The next one, 0 if none waits.
  int take();
  /// Waits so long for a stop signal (not SIGCHLD); 0 if none came.
  int wait(double seconds);

 private:
  int fd_;
};

}  // namespace trainrt::batch
