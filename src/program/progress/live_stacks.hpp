#pragma once
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

namespace trainrt {

class OutputTee;

namespace program {

/// Provides the Python stacks of a running program, and its last collective call. The client makes faulthandler print the
/// stacks of all threads when the process gets a certain signal. Any thread may call all functions.
class LiveStacks {
 public:
  /// Enables collect(): `process` and its descendants, as far as they catch `signal`, print their stacks to `output`.
  void enable(pid_t process, int signal, std::shared_ptr<OutputTee> output);
  /// Disables collect() because the process may have exited. Waits for a call of collect() that is running.
  void disable();

  /// Requests and returns the stacks, with a headline for each process: at most 8 processes, parents first, within 2 s.
  /// Returns "" if disabled, or if no process answers.
  std::string collect();

  /// Stores the newest collective call of the program: "report() at train.py:12".
  void note_call(const std::string& place);
  std::string last_call() const;  ///< "" before the first call

 private:
  std::string stacks_of(pid_t process, double end_s);

  std::mutex mutex_;
  mutable std::mutex call_mutex_;  ///< a lock of its own because collect() holds `mutex_` for seconds
  std::string last_call_;
  pid_t process_ = 0;  ///< 0 while disabled
  int signal_ = 0;
  std::shared_ptr<OutputTee> output_;
};

}  // namespace program

}  // namespace trainrt
