#pragma once
#include <cstddef>
#include <memory>

#include <sys/types.h>

namespace trainrt {

/// Kinds of standard input.
enum class InputKind {
  none,   ///< a terminal, /dev/null, or closed: programs get /dev/null instead
  file,   ///< can be read several times
  stream  ///< a pipe, a socket or a device: can be read once
};
/// The kind of this process's standard input.
InputKind input_kind();

/// Passes the standard input of this process on to programs that it starts one after the other. Each reads it from the
/// position that it has when this object is made: a program reads a file itself; a thread copies a stream into a pipe, and
/// keeps the first `max_kept_bytes` of it for later programs. At most one object may exist at a time; one thread uses it.
class ProgramInput {
 public:
  static constexpr std::size_t max_kept_bytes = 16 << 20;

  ProgramInput();
  ~ProgramInput();  ///< ends the thread; programs that still run read to the end of what is in their pipe
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
  off_t begin_ = 0;             ///< of a file
  std::unique_ptr<Feed> feed_;  ///< of a stream
};

/// Makes /dev/null the standard input of this process. Whatever writes to its former one can stop waiting for a reader.
void drop_input();

/// Reads standard input to its end into memory, and makes that the standard input of this process: a file at its beginning,
/// which each program that has it can read. Returns its size in bytes. Throws UsageError, whose text has standard input as
/// "it", if there are more than 64 MiB, or if nothing comes for `timeout_s` seconds.
std::size_t hold_input(double timeout_s);

}  // namespace trainrt
