#pragma once
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

namespace trainrt {

class OutputTee;

namespace program {

/// Provides the Python stacks of a running program, and the program's last collective call. To get the stacks, a
/// LiveStacks object sends a signal to the program. Python's faulthandler then prints the stacks of all threads;
/// trainrt's client registers faulthandler for this signal. Any thread may call all functions.
class LiveStacks {
 public:
  /// Enables collect() for `process` and its descendants. Those that catch `signal` print their stacks to `output`.
  void enable(pid_t process, int signal, std::shared_ptr<OutputTee> output);
  /// Disables collect(), since the program may have exited. Waits until a running call of collect() has returned.
  void disable();

  /// Requests the stacks of at most 8 processes, parents first, and returns them with a headline for each process,
  /// within 2 s. The stacks are written to the log of the output and not to the terminal. Returns "" if collect() is
  /// disabled, or if no process answers.
  std::string collect();

  /// Stores the last collective call of the program: "report() at train.py:12".
  void note_call(const std::string& place);
  std::string last_call() const;  ///< returns the call stored by note_call(); "" before the first call

 private:
  std::string stacks_of(pid_t process, double end_s);

  std::mutex mutex_;
  mutable std::mutex call_mutex_;  ///< a second mutex, since collect() holds `mutex_` for seconds
  std::string last_call_;
  pid_t process_ = 0;  ///< 0 while collect() is disabled
  int signal_ = 0;
  std::shared_ptr<OutputTee> output_;
};

}  // namespace program

}  // namespace trainrt
