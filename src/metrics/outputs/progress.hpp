#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/output/terminal.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

/// Returns a metric record as text for the progress line: "iteration 12  loss=0.1234  accuracy=0.9". Contains the user's
/// metrics with 4 significant digits, without the keys that trainrt adds.
std::string summary(const Record& record);

/// Formats the rate `count` / `seconds`: "3,650 it/s", or "3.2 s/it" if it is below one per second; "" if `count` or
/// `seconds` is 0. `many` and `one` are the plural and the singular of the unit.
std::string rate(double count, double seconds, std::string_view many = "it", std::string_view one = "it");

/// Returns a progress bar for `done` of `total`, as text: "[#####-----]  50%".
std::string bar(std::int64_t done, std::int64_t total);

/// The terminal or log that a ProgressSink writes to.
struct ProgressOutput {
  /// Function that returns the size of the terminal; nullopt if the output is not a terminal.
  std::function<std::optional<TerminalSize>()> size;
  std::function<void(std::string_view)> write;
  bool every_report = false;  ///< true to print each report on its own line, also on a terminal
};

/// Metrics sink that shows the progress of a run: iteration, step, the metrics of the newest report, iterations and steps
/// per second, and the time left.
///
/// - On a terminal it shows a line with a progress bar in the last row, and updates it at most ten times a second. Output
///   of the train function scrolls above it.
/// - Otherwise it prints lines without control codes: for the first report, then at most one every 10, 20, 40 and later 60
///   s, and for the last report.
///
/// The rate of iterations is computed from the iteration times in the reports (_time_this_iter_s), because the first
/// iteration after a restart may have begun in an earlier attempt.
class ProgressSink final : public Sink {
 public:
  /// `now` returns the time of the monotonic clock, in seconds. `time_left` returns a text with the time left, or "" if the
  /// time is unknown.
  ProgressSink(std::string run_name, ProgressOutput output, std::function<double()> now,
               std::function<std::string()> time_left = {});
  ProgressSink(const ProgressSink&) = delete;
  ~ProgressSink() override;
  void begin(const std::vector<Record>& history) override;
  void expect_iterations(std::int64_t total) override { total_ = total; }
  void at_step(std::int64_t step) override { step_ = step; }
  void write(const Record& record) override;
  void end() override;

 private:
  void show(const Record& record);
  void show_in_last_row(TerminalSize size, const std::string& line);
  void leave_last_row();
  std::string line_of(const Record& record) const;
  double seconds_of(const Record& record);

  std::string run_name_;
  ProgressOutput output_;
  std::function<double()> now_;
  std::function<std::string()> time_left_;
  std::int64_t total_ = 0;  ///< total number of iterations of the run; 0 if unknown
  double interval_s_ = 0;   ///< minimum number of seconds between two progress lines
  double shown_s_ = 0;      ///< time at which the last progress line was shown, or begin() called, in seconds
  double reported_s_ = 0;   ///< time of the last report, or of begin(), in seconds
  int since_shown_ = 0;     ///< number of reports since the last progress line
  /// Sum of the iteration times in seconds, over the reports since the last progress line.
  double taken_s_ = 0;
  std::int64_t step_ = 0;              ///< current training step of the run
  std::int64_t shown_step_ = 0;        ///< training step at the last progress line, or at begin()
  std::optional<Record> waiting_;      ///< newest report, if it has not been shown yet
  std::string last_line_;              ///< text of the last progress line
  std::optional<TerminalSize> taken_;  ///< size of the terminal while this sink uses its last row; nullopt otherwise
};

}  // namespace trainrt::metrics
