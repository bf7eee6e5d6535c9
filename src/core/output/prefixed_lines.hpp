#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt {

/// Splits an output into lines and passes each, after a prefix, to `write` in one call, so that lines of several ranks do
/// not mix on a shared terminal. Lines longer than `max_bytes` are split. A line that \r overwrites (a progress bar) is
/// passed on every few seconds, and in its last state.
class PrefixedLines {
 public:
  static constexpr std::size_t max_bytes = 4000;  ///< with the prefix less than PIPE_BUF, which a pipe takes in one piece
  static constexpr double between_states_s = 5;   ///< seconds between two states of an overwritten line

  PrefixedLines(std::string prefix, std::function<void(std::string_view line)> write)
      : prefix_(std::move(prefix)), write_(std::move(write)) {}

  /// Adds the next part of the output. `now_s`: seconds of a monotonic clock.
  void add(std::string_view bytes, double now_s);
  /// Passes on the last line if it has no line break.
  void finish();

 private:
  void end_state(double now_s);
  void put();

  std::string prefix_;
  std::function<void(std::string_view line)> write_;
  std::string line_;
  bool rewritten_ = false;  ///< a \r followed `line_`: the next bytes overwrite it
  double shown_at_s_ = 0;
};

}  // namespace trainrt
