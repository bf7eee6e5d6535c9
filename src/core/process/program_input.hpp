#pragma once
#include <cstddef>
#include <memory>

#include <sys/types.h>

namespace trainrt {

/// Kinds of standard input.
enum class InputKind {
  none,   ///< a terminal, /dev/null, or closed: programs get /dev/null
  file,   ///< can be read several times
  stream  ///< a pipe, a socket or a device: can be read once
};
/// Returns the kind of this process's standard input.
InputKind input_kind();

/// Passes the standard input of this process on to programs that it starts one after the other. Each program reads it from
/// the position at which this object was made: it reads a file itself; a thread copies a stream into a pipe, and keeps the
/// first `max_kept_bytes` for later programs. At most one object may exist, and one thread may use it.
class ProgramInput {
 public:
  static constexpr std::size_t max_kept_bytes = 16 << 20;

  ProgramInput();
  ~ProgramInput();  ///< ends the thread; programs that still run read the rest of their pipe
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  InputKind kind() const { return kind_; }
  /// Returns a descriptor that becomes the standard input of the next program; the caller closes it. It is closed on exec.
  /// Earlier programs get no more input. Throws UsageError if an earlier program was given more of a stream than is kept,
  /// and Error if the system refuses a pipe.
  int open();

 private:
  class Feed;

  InputKind kind_;
  off_t begin_ = 0;             ///< position of a file
  std::unique_ptr<Feed> feed_;  ///< copies a stream
};

/// Makes /dev/null the standard input of this process. A process that writes to the former pipe then gets SIGPIPE.
void drop_input();

/// Reads standard input to its end into a file in memory and makes that file the standard input of this process, so that
/// each program can read it. Returns its size in bytes. Throws UsageError (its text calls standard input "it") if there
/// are more than 64 MiB, or if nothing comes for `timeout_s` seconds.
std::size_t hold_input(double timeout_s);

}  // namespace trainrt
