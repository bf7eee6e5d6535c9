#pragma once
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

namespace trainrt {

class OutputTee;

namespace program {

/// The Python stacks of a program that goes on: its client lets faulthandler print them, of all threads, at a signal that
/// nobody else uses; and the last call that it made. Any thread may call.
class LiveStacks {
 public:
  /// `process` and those that it has started print their stacks to what `output` reads, if they catch the signal.
  void can_be_asked(pid_t process, int signal, std::shared_ptr<OutputTee> output);
  /// The process may be gone from now on. Waits for who asks just now.
  void forget();

  /// What the processes print, each under a line with its process: parents first, at most 8 processes, within 2 s. "" if
  /// nobody can be asked, or none answers.
  std::string ask();

  /// The program has made this collective call: "report() at train.py:12".
  void note_call(const std::string& place);
  std::string last_call() const;  ///< "" if there was none

 private:
  std::string stacks_of(pid_t process, double end_s);

  std::mutex mutex_;
  mutable std::mutex call_mutex_;  ///< never held while a process is asked
  std::string last_call_;
  pid_t process_ = 0;  ///< 0: none
  int signal_ = 0;
  std::shared_ptr<OutputTee> output_;
};

}  // namespace program

}  // namespace trainrt
