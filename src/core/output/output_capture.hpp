#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"

namespace trainrt {

/// While an object lives, all that this process prints (printf, std::cout, write()) goes to the targets of an
/// OutputTargets, and so does the output of its children, which inherit descriptors 1 and 2. Messages of the runtime
/// (write()) still go to the standard streams that this process was started with. At most one object may exist, in a
/// process that is one rank.
///
/// Standard output becomes line buffered, so that a crash loses no complete line. Log and terminal get all that was written
/// if the process returns, throws, crashes or calls exit(). SIGKILL and _exit() may lose the bytes in the pipe; the
/// reading thread takes microseconds to empty it.
class OutputCapture {
 public:
  /// `title` is written to the log before the first output; without output there is no log. `targets.out` and
  /// `targets.error` are ignored. Throws Error if the system has no pipe or thread left.
  OutputCapture(OutputTargets targets, const std::string& title);
  /// Passes on all that was printed. Does not wait for children that still run; they get SIGPIPE if they print later.
  ~OutputCapture();
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  // The functions below may be called at any time from any thread, whether or not an object exists.

  /// Writes a message of the runtime to standard_output() or standard_error(), after all that this process, and the child
  /// of follow(), printed before.
  enum class Stream { output, error };
  static void write(Stream stream, std::string_view text);

  /// Makes write() wait for the output of a child of this process, which `output` reads. nullptr ends that; when the call
  /// returns, write() no longer uses the earlier tee. Not owned. Must not be called from the reading thread of a tee.
  static void follow(const OutputTee* output);

  /// Flushes the buffers of the C and C++ libraries, unless log or terminal accept nothing for a second. Must
  /// be called from the thread that prints.
  static void flush();

  /// Waits, at most a second, until the targets have all bytes that were written, and leads descriptors 1 and 2 to the
  /// original standard streams. For a process that ends without calling destructors; async-signal-safe.
  static void restore_at_exit();

  /// The last lines that this process printed.
  struct Last {
    std::string lines;     ///< in the form of printable_end(); "" if nothing was printed
    bool is_shown = true;  ///< the terminal has already shown them
  };
  static Last last();

  /// The last lines in the log, for a signal handler.
  struct LastInHandler {
    std::string_view lines;  ///< refers to `room`
    bool is_shown = true;
  };
  /// Async-signal-safe.
  static LastInHandler last_in_handler(std::span<char> room);

 private:
  std::unique_ptr<OutputTee> tee_;
};

}  // namespace trainrt
