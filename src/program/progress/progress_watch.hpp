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

/// Finds a program's progress in its output while it is printed. A line ends with \n, or with \r as in progress bars.
/// Memory is bounded: at most `max_lines` lines are kept between two calls of newest(), and `max_line_bytes` of each.
class ProgressWatch {
 public:
  static constexpr std::size_t max_lines = 256;
  static constexpr std::size_t max_line_bytes = 1024;

  /// `max_match_s`: CPU time in seconds that matching one line may take.
  explicit ProgressWatch(ProgressPattern pattern, double max_match_s = 0.5)
      : pattern_(std::move(pattern)), max_match_s_(max_match_s) {}

  /// Adds output of the program: `stream` is 0 for standard output and 1 for standard error. Any thread may call it; it
  /// does not wait for newest().
  void add(std::size_t stream, std::string_view bytes);

  /// Scans the complete lines added since the previous call, newest first, and with `at_end` the incomplete last line too.
  /// Returns the newest numbers with a position beyond all previous ones, or nothing. Stops after 0.1 s of CPU time. Logs
  /// a warning about the first match that is not a number. If one line takes too long, logs a warning and returns nothing
  /// from then on. Must be called by one thread.
  std::optional<ProgressNumbers> newest(bool at_end = false);
  bool has_given_up() const { return given_up_; }

 private:
  void end_line(std::string& line);
  std::deque<std::string> take_lines(bool at_end);
  bool is_further(const ProgressNumbers& found);
  std::optional<ProgressNumbers> numbers_in(const std::string& line);
  void give_up(std::string_view why);

  const ProgressPattern pattern_;
  const double max_match_s_;
  std::mutex mutex_;
  std::array<std::string, 2> unfinished_;
  std::deque<std::string> lines_;
  std::atomic<bool> given_up_ = false;
  double last_ = -1;  ///< position of the last returned numbers
  bool warned_ = false;
};

/// Returns the numbers of rank 0 on all ranks. Collective.
Metrics shared_progress(Communicator& communicator, const std::optional<ProgressNumbers>& mine);

}  // namespace trainrt::program
