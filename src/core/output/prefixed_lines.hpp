#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trainrt {

/// Makes lines of an output that comes in pieces, each behind a prefix, in one call of `write`: lines of several ranks
/// that share a terminal do not mix. Lines of more than 4,000 bytes are cut into several. Of a line that is written again
/// and again (\r: a progress bar) a new state is shown every few seconds, and the last one.
class OutputLines {
 public:
  static constexpr std::size_t most_bytes = 4000;  ///< with the prefix less than a pipe takes in one piece (PIPE_BUF)
  static constexpr double between_states_s = 5;

  OutputLines(std::string prefix, std::function<void(std::string_view line)> write)
      : prefix_(std::move(prefix)), write_(std::move(write)) {}

  /// `now_s`: seconds of a clock that does not step back.
  void add(std::string_view bytes, double now_s);
  /// What has no end yet becomes a line.
  void finish();

 private:
  void end_state(double now_s);
  void put();

  std::string prefix_;
  std::function<void(std::string_view line)> write_;
  std::string line_;
  bool rewritten_ = false;  ///< a \r came behind `line_`: what follows takes its place
  double shown_at_s_ = 0;
};

}  // namespace trainrt
