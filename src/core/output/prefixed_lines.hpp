#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt {

/// Splits the output of a rank into lines and puts a prefix before each line. Each line is passed to `write` in one call,
/// so that lines of several ranks do not mix on a shared terminal. Lines longer than `max_bytes` are split.
///
/// If a progress bar overwrites its line by \r, `write` receives the current text of the line every few seconds, and the
/// final text.
class PrefixedLines {
 public:
  /// Maximum length of a line of output in bytes. Line and prefix together are shorter than PIPE_BUF, so that a write to a
  /// pipe is atomic.
  static constexpr std::size_t max_bytes = 4000;
  static constexpr double between_states_s = 5;  ///< minimum seconds between two states of an overwritten line

  PrefixedLines(std::string prefix, std::function<void(std::string_view line)> write)
      : prefix_(std::move(prefix)), write_(std::move(write)) {}

  /// Adds the next bytes of the output. `now_s` is the current time in seconds of a monotonic clock.
  void add(std::string_view bytes, double now_s);
  /// Flushes at the end of the output: passes a last line that has no trailing newline to `write`.
  void finish();

 private:
  void end_state(double now_s);
  void put();

  std::string prefix_;
  std::function<void(std::string_view line)> write_;
  std::string line_;
  bool rewritten_ = false;  ///< whether `line_` was followed by \r, so that the next bytes overwrite it
  double shown_at_s_ = 0;
};

}  // namespace trainrt
