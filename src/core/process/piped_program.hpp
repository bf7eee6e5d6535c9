#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/process/spawn.hpp"

namespace trainrt {

/// Runs a program with pipes to this process as its standard input, output and error. The caller sends and receives while
/// the program runs; no function but exchange() waits. One thread at a time may use an object.
class PipedProgram {
 public:
  /// Starts `command` by /bin/sh -c, in a process group of its own, with the environment `environment` and no other open
  /// files of this process. Throws Error if it cannot be started.
  PipedProgram(const std::string& command, const Variables& environment);
  /// Kills the program's process group if the program still runs.
  ~PipedProgram();
  PipedProgram(const PipedProgram&) = delete;
  PipedProgram& operator=(const PipedProgram&) = delete;

  /// Appends `bytes` to the program's input. They are kept here until the program's pipe has room for them.
  void send(std::string_view bytes) { unsent_ += bytes; }
  /// Returns how many of the bytes that were sent the program has not read.
  std::size_t unread() const;
  /// Closes the program's input after the bytes that were sent.
  void end_input() { input_ends_ = true; }

  /// The bytes that exchange() read from each stream.
  struct Received {
    std::string output, errors;
  };
  /// Writes to the program and reads from it once one of the two is possible; waits at most `limit`, and no longer once
  /// the descriptor `wake` can be read (-1: no descriptor).
  Received exchange(std::chrono::milliseconds limit, int wake);

  /// Returns the exit code as a shell reports it, 128 + N if signal N ended the program; nullopt while it runs.
  std::optional<int> exit_code();

 private:
  void write_unsent();

  Pipe input_;  ///< its read end stays open: it shows how much is unread, and a write never raises SIGPIPE
  Pipe output_, errors_;
  pid_t pid_ = -1;
  std::string unsent_;
  bool input_ends_ = false;
  std::optional<int> exit_code_;
};

}  // namespace trainrt
