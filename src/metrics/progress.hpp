#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "metrics/sink.hpp"

namespace trainrt::metrics {

/// "iteration 12  loss=0.1234  accuracy=0.9": the record's own metrics, not the autofilled ones; numbers with 4 digits.
std::string summary(const Record& record);

/// "2.5 it/s", or "3.2 s/it" where that is the larger number; "" for no time or no iterations.
std::string rate(double iterations, double seconds);

/// "[#####-----]  50%": how far `done` of `total` is.
std::string bar(std::int64_t done, std::int64_t total);

/// Where progress is shown.
struct Screen {
  bool terminal = false;
  std::size_t width = 80;  ///< columns of a terminal
  std::function<void(std::string_view)> write;
};

/// Shows how a run gets on. On a terminal it is one line, with a bar where the total is known, written anew in place, ten
/// times a second at most. In a log a
/// line for the first report at once, then one every 10 seconds at most, later 20, 40, 60; and one for the last report at
/// the end. No control codes but on a terminal. `now` gives monotonic seconds. The rate is that of the iterations by their
/// own times (_time_this_iter_s): the first after a restart may have begun in the attempt before.
class Progress final : public Sink {
 public:
  Progress(std::string run_name, Screen screen, std::function<double()> now);
  void begin(const std::vector<Record>& history) override;
  void expect(std::int64_t total) override { total_ = total; }
  void write(const Record& record) override;
  void end() override;

 private:
  void show(const Record& record);
  double seconds_of(const Record& record);

  std::string run_name_;
  Screen screen_;
  std::function<double()> now_;
  std::int64_t total_ = 0;         ///< iterations that the run will have, 0 = unknown
  double interval_s_ = 0;          ///< to the next line
  double shown_s_ = 0;             ///< when the last line was written, or the attempt began
  double reported_s_ = 0;          ///< when the last report came, or the attempt began
  int since_shown_ = 0;            ///< reports
  double taken_s_ = 0;             ///< by those
  std::optional<Record> waiting_;  ///< newest report, where it is not shown yet
  bool line_open_ = false;         ///< on a terminal: the line has no end yet
};

}  // namespace trainrt::metrics
