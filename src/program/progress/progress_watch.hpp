#pragma once
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <trainrt/communicator.hpp>
#include <trainrt/metrics.hpp>

#include "program/progress/progress_pattern.hpp"

namespace trainrt::program {

/// Looks for a program's progress in its output, as it comes. A line ends with \n or with \r, as those of progress bars
/// do. Memory is bounded: of what comes between two looks the last `most_lines` lines are kept, and the first
/// `most_bytes` of each.
class ProgressWatch {
 public:
  static constexpr std::size_t most_lines = 256;
  static constexpr std::size_t most_bytes = 1024;

  /// `most_a_line_s`: CPU time that looking at one line may take, in seconds.
  explicit ProgressWatch(ProgressPattern pattern, double most_a_line_s = 0.5)
      : pattern_(std::move(pattern)), most_a_line_s_(most_a_line_s) {}

  /// Of standard output (0) or standard error (1). Any thread; does not wait for a look.
  void add(std::size_t stream, std::string_view bytes);

  /// Looks at the lines that have ended since the last look, at the end of the output also at those that have not. The
  /// newest numbers that are further than all before; nothing if there are none. A match that is no number is warned of
  /// once. A look ends after a moment, with the newest lines; if it takes too long for a single line, that is warned of,
  /// and nothing is found any more. One thread.
  std::optional<SeenNumbers> newest(bool at_end = false);
  bool has_given_up() const { return given_up_; }

 private:
  void end_line(std::string& line);
  std::deque<std::string> take_lines(bool at_end);
  bool is_further(const SeenNumbers& found);
  std::optional<SeenNumbers> numbers_in(const std::string& line);
  void give_up(std::string_view why);

  const ProgressPattern pattern_;
  const double most_a_line_s_;
  std::mutex mutex_;
  std::array<std::string, 2> unfinished_;
  std::deque<std::string> lines_;
  std::atomic<bool> given_up_ = false;
  double last_ = -1;  ///< the position of what was found last
  bool warned_ = false;
};

/// What rank 0 has found, on all ranks. Collective.
Metrics shared_progress(Communicator& communicator, const std::optional<SeenNumbers>& mine);

}  // namespace trainrt::program
