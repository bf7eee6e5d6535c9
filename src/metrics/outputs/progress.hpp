#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/output/terminal.hpp"
#include "metrics/sink.hpp"

namespace trainrt::metrics {

/// "iteration 12  loss=0.1234  accuracy=0.9": the record's own metrics, not the autofilled ones; numbers with 4 digits.
std::string summary(const Record& record);

/// "2.5 it/s", or "3.2 s/it" if that is the larger number; "" for no time or nothing done. `many` and `one`: what is
/// counted.
std::string rate(double count, double seconds, std::string_view many = "it", std::string_view one = "it");

/// "[#####-----]  50%": how far `done` of `total` is.
std::string bar(std::int64_t done, std::int64_t total);

/// Where progress is shown.
struct Screen {
  std::function<std::optional<TerminalSize>()> size;  ///< none: a log
  std::function<void(std::string_view)> write;
  bool every_report = false;  ///< each in a line of its own, on a terminal too
};

/// Shows how a run gets on: iteration, step, the report's metrics, iterations and steps a second, and the time left. On a
/// terminal that is its last row, with a bar, ten times a second at most; what the train function prints scrolls above it.
/// In a log a line for the first report at once, then one every 10 seconds at most, later 20, 40, 60; and one for the last
/// report at the end. No control codes but on a terminal. `now` gives monotonic seconds, `time_left` a text, "" if it is
/// not known. The rate of iterations is by their own times (_time_this_iter_s): the first after a restart may have begun in
/// the attempt before.
class Progress final : public Sink {
 public:
  Progress(std::string run_name, Screen screen, std::function<double()> now, std::function<std::string()> time_left = {});
  Progress(const Progress&) = delete;
  ~Progress() override;
  void begin(const std::vector<Record>& history) override;
  void expect(std::int64_t total) override { total_ = total; }
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
  Screen screen_;
  std::function<double()> now_;
  std::function<std::string()> time_left_;
  std::int64_t total_ = 0;             ///< iterations that the run will have, 0 = unknown
  double interval_s_ = 0;              ///< to the next line
  double shown_s_ = 0;                 ///< when the last line was written, or the attempt began
  double reported_s_ = 0;              ///< when the last report came, or the attempt began
  int since_shown_ = 0;                ///< reports
  double taken_s_ = 0;                 ///< by those
  std::int64_t step_ = 0;              ///< of the run, now
  std::int64_t shown_step_ = 0;        ///< when the last line was written, or the attempt began
  std::optional<Record> waiting_;      ///< newest report, if it is not shown yet
  std::string last_line_;              ///< what the last row of the terminal shows
  std::optional<TerminalSize> taken_;  ///< the terminal whose last row is ours
};

}  // namespace trainrt::metrics
