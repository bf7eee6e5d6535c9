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

/// Finds a program's progress in its output, while the program prints it. A line ends with \n, or with \r as in
/// progress bars. A ProgressWatch keeps at most `max_lines` lines between two calls of newest(), and at most
/// `max_line_bytes` bytes of each line.
class ProgressWatch {
 public:
  static constexpr std::size_t max_lines = 256;
  static constexpr std::size_t max_line_bytes = 1024;

  /// `max_match_s`: maximum CPU time for matching one line, in seconds.
  explicit ProgressWatch(ProgressPattern pattern, double max_match_s = 0.5)
      : pattern_(std::move(pattern)), max_match_s_(max_match_s) {}

  /// Adds output of the program. `stream` is 0 for standard output and 1 for standard error. Any thread may call this
  /// function; it does not wait for newest().
  void add(std::size_t stream, std::string_view bytes);

  /// Scans the complete lines added since the previous call, newest first; with `at_end`, also scans the incomplete
  /// last line. Returns the numbers of the newest line with a position greater than all previous positions, or nothing.
  /// Stops after 0.1 s of CPU time. Logs a warning for the first match that is not a number. If one line takes longer
  /// than `max_match_s`, logs a warning, and all later calls return nothing. Only one thread may call this function.
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
  double last_ = -1;  ///< position in the last numbers that newest() returned
  bool warned_ = false;
};

/// Returns, on all ranks, rank 0's progress numbers `mine` as metrics. The values of `mine` on other ranks are ignored.
/// Collective.
Metrics shared_progress(Communicator& communicator, const std::optional<ProgressNumbers>& mine);

}  // namespace trainrt::program
