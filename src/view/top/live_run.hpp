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
#include "rundir/records/owner.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/usage/forecast.hpp"
#include "view/curves/step_windows.hpp"
#include "view/top/late_ranks.hpp"

namespace trainrt::view {

/// Returns a description of a slow rank: "19 % slower than the median in input: clock 1.2 GHz of 3.1".
std::string slow_rank_text(const StepWindow::Slow& slow);

struct Event {
  std::string time;  ///< UTC
  std::string text;
  bool is_bad = false;
};

/// The resource usage of all ranks. Rates are means since the previous LiveRun::read(), or since the start of the
/// attempt.
struct Usage {
  double memory = 0, peak_memory = 0;           ///< bytes
  std::optional<double> cpus, cpus_allowed;     ///< number of CPUs in use; number of CPUs available
  std::optional<double> read_rate, write_rate;  ///< bytes per second
  std::optional<double> gpu, gpu_memory;        ///< mean utilization, 0 to 1; bytes
};

/// The progress of a running attempt in a window of wall-clock time. The window is the last minute. If the attempt has
/// been read for less than a minute, the window begins when the first step could begin.
struct RecentProgress {
  double seconds = 0, steps = 0, iterations = 0;
};

/// The state of a run at one time.
struct LiveStatus {
  std::string run_dir;
  std::string now;  ///< UTC time of the state
  rundir::RunRecord record;
  rundir::RunState state = rundir::RunState::starting;
  std::string why;                              ///< why the newest attempt or the run ended
  std::vector<rundir::AttemptRecord> attempts;  ///< the newest attempts, oldest first
  std::deque<metrics::Record> reports;          ///< the newest reports, oldest first
  std::vector<std::optional<rundir::RankStatus>> ranks;
  std::vector<LateRank> late;
  std::optional<StepWindow> steps;
  std::optional<rundir::Forecast> forecast;
  RecentProgress recent;  ///< zeros if the run has ended
  Usage usage;
  std::vector<Event> events;  ///< oldest first

  bool is_over() const { return rundir::is_over(state); }
  /// Returns the ended attempt that announces the next attempt. Returns nullptr if no attempt is announced, or if the
  /// announced one can no longer be expected.
  const rundir::AttemptRecord* restarting() const;
};

/// Computes the recent progress of an attempt from the values of its heartbeats. The heartbeat times are measured with a
/// monotonic clock in the run's own process.
class ProgressWindow {
 public:
  /// Adds the newest values of a running attempt, and returns the progress in the window that ends with them. For the
  /// first values of another attempt, a new window begins.
  RecentProgress take(const rundir::AttemptRecord& attempt);

 private:
  int attempt_ = 0;
  std::deque<RecentProgress> marks_;  ///< values since the start of the attempt, oldest first
};

/// Reads a run directory repeatedly, without changing it. Later calls of read() read only the new lines of logs.
class LiveRun {
 public:
  explicit LiveRun(std::string run_dir);

  /// Returns the current state of the run. Throws UsageError if the directory is not a run directory or was written by a
  /// newer version, and StorageError if the storage cannot be read.
  LiveStatus read();

 private:
  struct Used {
    std::string time;
    double cpu_s = 0, read = 0, written = 0;
  };
  std::vector<rundir::AttemptRecord> attempts();
  void switch_to(int attempt);
  void set_state(LiveStatus& now);
  bool is_alive(const rundir::AttemptRecord& newest, const std::string& now);
  void read_reports();
  void read_steps();
  void read_ranks(LiveStatus& now);
  Usage usage_of(const LiveStatus& now);
  std::vector<Event> events_of(const LiveStatus& now);
  void add_checkpoints(std::vector<Event>& events);
  void add_files(std::vector<Event>& events, const LiveStatus& now) const;

  std::string run_dir_;
  io::LineTail results_;
  rundir::JobCheck job_is_alive_;  ///< for the job that starts the run
  std::deque<metrics::Record> reports_;
  std::map<int, rundir::AttemptRecord> ended_;  ///< finished attempts before the newest, by number
  int attempt_ = 0;                             ///< number of the attempt that the members below belong to
  std::optional<io::LineTail> step_lines_;
  std::optional<StepWindow> steps_;
  std::deque<Event> slow_;
  ProgressWindow recent_;
  std::vector<std::optional<rundir::RankStatus>> ranks_;
  std::vector<Used> used_before_;
  std::vector<std::pair<double, Used>> rates_;  ///< by rank: a number of seconds, and the usage in these seconds
  std::map<std::int64_t, Event> checkpoints_;   ///< by number of the checkpoint
  double checked_at_s_ = -1e9;                  ///< time of the last check whether the attempt's owner is alive
  bool was_alive_ = true;
};

}  // namespace trainrt::view
