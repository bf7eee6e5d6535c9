#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/output/output_targets.hpp"
#include "core/output/output_tee.hpp"

namespace trainrt {

/// While it lives, what this process prints itself, with printf, std::cout or write(), goes where a plan says; what its
/// children print too, which inherit the descriptors 1 and 2. Only these two change: what the runtime says (OwnOutput::say)
/// goes where the process was started to print. One at a time, in a process that is one rank.
///
/// Standard output is line buffered from then on: a crash loses no whole line. What has been written reaches log and
/// terminal if the process returns, throws, crashes or calls exit(); SIGKILL and _exit() may lose what the reader has not
/// yet taken out of the pipe, which takes it microseconds.
class OwnOutput {
 public:
  /// `title` begins the log with the first output; without any there is no log. The plan's own descriptors do not count.
  /// Throws Error if no pipe or thread can be had.
  OwnOutput(OutputPlan plan, const std::string& title);
  /// Passes on what has been printed. Children that are left behind hold nobody up; they get SIGPIPE if they print later.
  ~OwnOutput();
  OwnOutput(const OwnOutput&) = delete;
  OwnOutput& operator=(const OwnOutput&) = delete;

  // What follows may be called at any time, from any thread, if there is such an output or not.

  /// Writes a text of the runtime's to standard_output() or standard_error(), behind what this process has printed before,
  /// and the child whose output it follows.
  enum class Stream { output, error };
  static void say(Stream stream, std::string_view text);

  /// What a child of this process prints is read by `output` from now on; nullptr: there is none any more, and say() has
  /// left the reader that there was. One at a time; not owned. Not on a reader's thread.
  static void follow(const OutputReader* output);

  /// Passes on what the C and C++ libraries still have in their buffers, unless log or terminal take nothing for a second.
  /// On the thread that prints.
  static void flush();

  /// For ends without destructors: waits until what has been written arrived where the plan says, a second at most, and
  /// gives 1 and 2 back to whoever ends the process. Async-signal-safe.
  static void give_back_at_exit();

  struct Last {
    std::string lines;     ///< as the error that ends a run has them (printable_end); "" if nothing was printed
    bool is_shown = true;  ///< the terminal has shown them already
  };
  static Last last();

  /// The same out of the log, for a signal handler: the lines are in `room`. Async-signal-safe.
  struct LastInHandler {
    std::string_view lines;
    bool is_shown = true;
  };
  static LastInHandler last_in_handler(std::span<char> room);

 private:
  std::unique_ptr<OutputReader> reader_;
};

}  // namespace trainrt
