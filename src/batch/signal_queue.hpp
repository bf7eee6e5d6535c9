#pragma once

namespace trainrt::batch {

/// A queue of the signals that this process receives. The constructor blocks SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2 and
/// SIGCHLD in this process and ignores SIGPIPE, so that no signal is lost or interrupts the program.
/// - A stop signal that is ignored when the object is created stays ignored.
/// - The object must be created before any other thread starts.
/// - The signals stay blocked after its destruction, so that a late signal does not change the exit code of the process.
class SignalQueue {
 public:
  SignalQueue();
  ~SignalQueue();
  SignalQueue(const SignalQueue&) = delete;
  SignalQueue& operator=(const SignalQueue&) = delete;

  /// Returns a file descriptor, owned by this object, that poll() reports as readable while a signal is queued.
  int fd() const { return fd_; }
  /// Removes the next signal from the queue and returns its number; 0 if the queue is empty. Does not block.
  int take();
  /// Blocks until a stop signal arrives, at most `seconds` seconds. Returns the number of the signal, or 0 after a
  /// timeout. Discards SIGCHLD.
  int wait(double seconds);

 private:
  int fd_;
};

}  // namespace trainrt::batch
