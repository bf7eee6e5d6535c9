#pragma once
#include <cstddef>
#include <memory>

#include <sys/types.h>

namespace trainrt {

/// The kind of file that standard input is connected to.
enum class InputKind {
  /// No input: a terminal, /dev/null, a directory, or closed. Programs that this process starts get /dev/null.
  none,
  file,   ///< a regular file, which can be read several times
  stream  ///< a pipe, a socket or a device, which can be read only once
};
/// Returns the kind of this process's standard input.
InputKind input_kind();

/// Passes the standard input of this process to programs that it starts one after the other. Each program reads the
/// complete input, from the position that standard input had when this object was created.
///
/// A regular file is inherited by each program. A stream (pipe) is copied into another pipe by a thread, which keeps the
/// first `max_kept_bytes` in memory for later programs. At most one object may exist. Not thread-safe.
class ProgramInput {
 public:
  static constexpr std::size_t max_kept_bytes = 16 << 20;

  ProgramInput();
  /// Ends the thread that copies standard input. Programs that still run can read the rest of their pipe.
  ~ProgramInput();
  ProgramInput(const ProgramInput&) = delete;
  ProgramInput& operator=(const ProgramInput&) = delete;

  InputKind kind() const { return kind_; }
  /// Returns a descriptor for the standard input of the next program. The caller owns the descriptor, which is closed on
  /// exec. Programs started earlier get no more input. Throws UsageError if standard input is a stream (pipe) and earlier
  /// programs were given more than `max_kept_bytes` of it; throws Error if the system cannot create a pipe.
  int open();

 private:
  class Feed;

  InputKind kind_;
  off_t begin_ = 0;             ///< offset of standard input at construction, if it is a file
  std::unique_ptr<Feed> feed_;  ///< copies standard input, if it is a stream
};

/// Replaces standard input of this process by /dev/null. If standard input was a pipe, a process that writes to the pipe
/// then gets SIGPIPE.
void drop_input();

/// Reads standard input to its end into a file in memory (memfd_create(2)), and makes that file the standard input of this
/// process. Several programs that this process starts can then read the same input. Returns the size of the input in bytes.
///
/// Throws UsageError if the input has more than 64 MiB, or if nothing arrives for `timeout_s` seconds. The error's text
/// begins with "it", which means standard input.
std::size_t hold_input(double timeout_s);

}  // namespace trainrt
