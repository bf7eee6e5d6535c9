#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/process/spawn.hpp"

namespace trainrt {

/// Runs a child program with pipes to this process as its standard input, output and error. The caller sends and receives
/// data while the program runs. Only exchange() and the destructor wait. Not thread-safe.
class PipedProgram {
 public:
  /// Starts `command` by /bin/sh -c in its own process group, with the environment variables `environment`. The program
  /// inherits no other open files of this process. Throws Error if the program cannot be started.
  PipedProgram(const std::string& command, const Variables& environment);
  /// Kills the program's process group if the program still runs; waits at most a second for its end.
  ~PipedProgram();
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  /// Appends `bytes` to the program's standard input. The bytes are buffered in this object; exchange() writes them when
  /// the program's pipe has room.
  void send(std::string_view bytes) { unsent_ += bytes; }
  /// Returns the number of bytes passed to send() that the program has not read yet.
  std::size_t unread() const;
  /// Marks the end of the program's standard input: exchange() closes the pipe after it has written all bytes passed to
  /// send().
  void end_input() { input_ends_ = true; }

  /// The bytes that exchange() has read from the program's standard output and standard error.
  struct Received {
    std::string output, errors;
  };
  /// Waits until the program's standard input can be written or its output can be read, then writes and reads without
  /// blocking. Waits at most `limit`, and returns early if the descriptor `wake` becomes readable (-1: no descriptor).
  Received exchange(std::chrono::milliseconds limit, int wake);

  /// Returns the program's exit code as a shell reports it (128 + N if signal N ended the program); nullopt while the
  /// program runs. When the program has ended, kills the remaining processes of its group.
  std::optional<int> exit_code();

 private:
  void write_unsent();

  /// Pipe to the program's standard input. This process keeps the read end open, too, in order to query the number of
  /// unread bytes and to prevent SIGPIPE on a write.
  Pipe input_;
  Pipe output_, errors_;
  pid_t pid_ = -1;
  std::string unsent_;
  bool input_ends_ = false;
  std::optional<int> exit_code_;
};

}  // namespace trainrt
