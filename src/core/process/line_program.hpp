#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "core/process/child_environment.hpp"

namespace trainrt {

/// A program that is fed on its standard input while it runs, and heard on its standard output and error. Nothing here
/// waits for it. One thread at a time.
class LineProgram {
 public:
  /// Starts `command` by /bin/sh -c, in a process group of its own, with this environment and none of this process's
  /// other open files. Throws Error if no process or pipe can be had.
  LineProgram(const std::string& command, const Variables& environment);
  /// Kills it with its process group, if it has not ended.
  ~LineProgram();
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  /// What follows what has been sent before. It is kept here until the program takes it.
  void send(std::string_view bytes) { unsent_ += bytes; }
  /// How many bytes of it the program has not read.
  std::size_t unread() const;
  /// Its standard input ends behind what has been sent.
  void end_input() { input_ends_ = true; }

  /// What was heard; of each stream as much as came.
  struct Heard {
    std::string output, errors;
  };
  /// Sends what it takes and hears what it says, for `limit` at most, or until `wake` (a descriptor) can be read.
  Heard exchange(std::chrono::milliseconds limit, int wake);

  /// As a shell has it, 128 + N if signal N ended it; nullopt while it runs.
  std::optional<int> exit_code();

 private:
  void write_unsent();

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, errors_ = -1;
  int taken_from_ = -1;  ///< the program's end of its input: it tells what is unread, and saves a SIGPIPE
  std::string unsent_;
  bool input_ends_ = false;
  std::optional<int> exit_code_;
};

}  // namespace trainrt
