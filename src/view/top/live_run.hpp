#pragma once
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/files/line_tail.hpp"
#include "metrics/record.hpp"
#include "rundir/records/attempt_record.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/usage/forecast.hpp"
#include "view/curves/step_windows.hpp"
#include "view/top/late_ranks.hpp"

namespace trainrt::view {

/// What a step of the window took the median rank, with its waits.
double seconds_of_step(const StepWindow& window);

/// "19 % slower than the median in input: clock 1.2 GHz of 3.1"
std::string words_of(const StepWindow::Slow& slow);

struct Event {
  std::string time;  ///< UTC
  std::string text;
  bool is_bad = false;
};

/// What all ranks use. Rates are those since the look before, or at the first look since the attempt began.
struct Usage {
  double memory = 0, peak_memory = 0;           ///< bytes
  std::optional<double> cpus, cpus_allowed;     ///< busy ones, and those that there are
  std::optional<double> read_rate, write_rate;  ///< bytes a second
  std::optional<double> gpu, gpu_memory;        ///< busy, 0 to 1, on average; bytes
};

/// How a run stands now.
struct RunNow {
  std::string run_dir;
  std::string now;  ///< UTC, when it was looked at
  rundir::RunRecord record;
  rundir::RunState state = rundir::RunState::starting;
  std::string why;                              ///< it ended
  std::vector<rundir::AttemptRecord> attempts;  ///< the newest ones
  std::deque<metrics::Record> reports;          ///< the newest ones
  std::vector<std::optional<rundir::RankStatus>> ranks;
  std::vector<LateRank> late;
  std::optional<StepWindow> steps;
  std::optional<rundir::Forecast> forecast;
  Usage usage;
  std::vector<Event> events;  ///< oldest first

  bool is_over() const { return rundir::is_over(state); }
};

/// Looks at a run directory again and again, and reads only what is new. Reading changes nothing in it.
class LiveRun {
 public:
  explicit LiveRun(std::string run_dir);

  /// UsageError if it is no run directory, or one of a newer version. StorageError if it cannot be read just now.
  RunNow look();

 private:
  struct Used {
    std::string time;
    double cpu_s = 0, read = 0, written = 0;
  };
  std::vector<rundir::AttemptRecord> attempts();
  void follow(int attempt);
  void judge_state(RunNow& now);
  bool is_alive(const rundir::AttemptRecord& newest, const std::string& now);
  void take_reports();
  void take_steps();
  void take_ranks(RunNow& now);
  Usage usage_of(const RunNow& now);
  std::vector<Event> events_of(const RunNow& now);
  void add_checkpoints(std::vector<Event>& events);
  void add_files(std::vector<Event>& events, const RunNow& now) const;

  std::string run_dir_;
  io::LineTail results_;
  std::deque<metrics::Record> reports_;
  std::map<int, rundir::AttemptRecord> ended_;  ///< attempts before the newest, by number
  int attempt_ = 0;                             ///< that the next ones are of
  std::optional<io::LineTail> step_lines_;
  std::optional<StepWindow> steps_;
  std::deque<Event> slow_;
  std::vector<std::optional<rundir::RankStatus>> ranks_;
  std::vector<Used> used_before_;
  std::vector<std::pair<double, Used>> rates_;  ///< of each rank: in so many seconds
  std::map<std::int64_t, Event> checkpoints_;   ///< by number
  double asked_at_s_ = -1e9;                    ///< when it was last asked whether the owner lives
  bool was_alive_ = true;
};

}  // namespace trainrt::view
