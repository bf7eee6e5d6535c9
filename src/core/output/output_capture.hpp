#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"

namespace trainrt {

/// Redirects all output of this process. While an object of this class exists, all output to descriptors 1 and 2 (printf,
/// std::cout, write(2)) goes to the log file and the terminal that an OutputTargets names. This includes the output of
/// child processes, which inherit the descriptors.
///
/// Messages that the runtime writes with OutputCapture::write() still go to the standard streams that this process was
/// started with. At most one object may exist in a process, and the process must be a single rank.
///
/// Standard output becomes line buffered, so that a crash loses no complete line. Log and terminal receive the complete
/// output if the process returns, throws, crashes or calls exit(). SIGKILL and _exit() may lose the bytes that are in the
/// pipe at that moment; the reading thread empties the pipe within microseconds.
class OutputCapture {
 public:
  /// Starts to redirect the output to the log and the terminal that `targets` names. `title` is written to the log before
  /// the first output; if nothing is printed, no log file is created. `targets.out` and `targets.error` are ignored. Throws
  /// Error if the system has no pipe or thread left.
  OutputCapture(OutputTargets targets, const std::string& title);
  /// Writes all output so far to log and terminal, and restores the standard streams. Does not wait for child processes
  /// that still run; a child that prints later receives SIGPIPE.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // The functions below are static. Except as stated, they are thread-safe and may be called whether or not an
  // OutputCapture exists.

  /// Writes a message of the runtime to standard_output() or standard_error(). First waits until earlier output has been
  /// written: at most a second for that of this process, and at most a second for that of the child passed to follow().
  enum class Stream { output, error };
  static void write(Stream stream, std::string_view text);

  /// Sets a child process of this process that write() also waits for: `output`, not owned, reads the child's output.
  /// nullptr: no child. When follow() returns, write() no longer uses the OutputTee of an earlier call. Must not be called
  /// from the reading thread of an OutputTee.
  static void follow(const OutputTee* output);

  /// Flushes the standard output buffers of the C and C++ libraries, unless log or terminal accept no output for a second.
  /// Must be called from the thread that prints.
  static void flush();

  /// Waits, at most a second, until log and terminal have received all output, then restores descriptors 1 and 2 to the
  /// original standard streams. For a process that ends without calling destructors. Async-signal-safe.
  static void restore_at_exit();

  /// The last lines of output that this process printed.
  struct Last {
    std::string lines;     ///< at most 20 lines, as printable_end() returns them; "" if nothing was printed
    bool is_shown = true;  ///< whether the terminal has already shown the lines
  };
  static Last last();

  /// The result of last_in_handler(): the last lines of output in the log file.
  struct LastInHandler {
    std::string_view lines;  ///< a view into the caller's buffer `room`
    bool is_shown = true;
  };
  /// Reads the last lines of output from the log file into the caller's buffer `room`, and returns them.
  /// Async-signal-safe.
  static LastInHandler last_in_handler(std::span<char> room);

 private:
  std::unique_ptr<OutputTee> tee_;
};

}  // namespace trainrt
