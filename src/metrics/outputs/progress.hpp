#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/output/terminal.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

/// Returns "iteration 12  loss=0.1234  accuracy=0.9": the user's metrics with 4 significant digits, without autofilled
/// keys.
std::string summary(const Record& record);

/// Returns "2.5 it/s", or "3.2 s/it" if less than one is done per second; "" if `count` or `seconds` is 0. `many` and `one`
/// are the plural and the singular of the unit.
std::string rate(double count, double seconds, std::string_view many = "it", std::string_view one = "it");

/// Returns the bar "[#####-----]  50%" for `done` of `total`.
std::string bar(std::int64_t done, std::int64_t total);

/// The terminal or log to which a ProgressSink writes.
struct ProgressOutput {
  std::function<std::optional<TerminalSize>()> size;  ///< returns nullopt if the output is not a terminal
  std::function<void(std::string_view)> write;
  bool every_report = false;  ///< print each report on its own line, also on a terminal
};

/// Shows the progress of a run: iteration, step, the metrics of the report, iterations and steps per second, and the time
/// left.
///
/// On a terminal it uses the last row, with a bar, and updates it at most ten times a second; output of the train function
/// scrolls above it. Otherwise it prints a line for the first report, then at most one every 10 s, later every 20, 40 and
/// 60 s, and a line for the last report, without control codes.
///
/// The rate of iterations is computed from their own times (_time_this_iter_s), because the first iteration after a restart
/// may have begun in an earlier attempt.
class ProgressSink final : public Sink {
 public:
  /// `now` returns monotonic seconds. `time_left` returns a text, or "" if the time is unknown.
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
  std::int64_t total_ = 0;             ///< total iterations of the run; 0 if unknown
  double interval_s_ = 0;              ///< minimum time between two lines
  double shown_s_ = 0;                 ///< time of the last line, or of begin()
  double reported_s_ = 0;              ///< time of the last report, or of begin()
  int since_shown_ = 0;                ///< number of reports since the last line
  double taken_s_ = 0;                 ///< sum of their iteration times
  std::int64_t step_ = 0;              ///< current step of the run
  std::int64_t shown_step_ = 0;        ///< step at the last line, or at begin()
  std::optional<Record> waiting_;      ///< newest report, if it is not shown yet
  std::string last_line_;              ///< the line that was shown last
  std::optional<TerminalSize> taken_;  ///< size of the terminal while this sink uses its last row
};

}  // namespace trainrt::metrics
