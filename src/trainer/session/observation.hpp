#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <trainrt/directory_checkpoint.hpp>
#include <trainrt/metrics.hpp>
#include <trainrt/state.hpp>

#include "batch/stop_cause.hpp"
#include "comm/timed_communicator.hpp"
#include "config/run_spec.hpp"
#include "metrics/record.hpp"
#include "trainer/datasets/run_datasets.hpp"
#include "trainer/reports/reporter.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "trainer/session/progress.hpp"
#include "trainer/stops/stop_reasons.hpp"
#include "trainer/watching/speed_watch.hpp"

namespace trainrt::trainer {

/// Observes the training of one attempt. Combines the reported metrics over the ranks, writes them to result.json and the
/// metrics sinks, notifies the callbacks, and measures the speed of the ranks. For a program that does not use trainrt's
/// API, records the progress that was read from the program's output.
///
/// Collective functions throw comm::AgreedError on all ranks. Must be used on the train thread.
class Observation {
 public:
  /// The objects that an Observation uses. All of them must outlive the Observation.
  struct Parts {
    const config::RunSpec& spec;
    comm::TimedCommunicator& communicator;
    const AttemptInfo& attempt;
    Progress& progress;
    const RunDatasets& datasets;
    StopReasons& stops;
  };
  explicit Observation(const Parts& parts);

  /// The point at which the metrics of an attempt begin.
  struct Begin {
    std::int64_t iteration = 0;  ///< last iteration to keep; records of later iterations are removed from the files
    double iteration_s = 0;      ///< seconds that earlier attempts spent on the next iteration
    std::string reports_of;      ///< Restored::reports_of
    /// true: the next iteration begins now, since a State was just restored; false: the iteration began when the train
    /// function was called.
    bool begins_now = false;
  };
  /// Opens the metrics files. Must be called once, before the first record is written. Collective.
  void begin(const Begin& begin);
  bool has_begun() const { return has_begun_; }
  /// Opens the metrics files for a program that has shown no progress in this attempt, and keeps all earlier records.
  /// Collective.
  void begin_without_progress();

  /// Sets the number of iterations after which the run will be complete.
  void expect_iterations(std::int64_t total);

  // --- functions for a report, called in this order ---
  /// Returns the record of the next iteration. The record has the metrics of all ranks combined, or rank 0's metrics with
  /// options.of_first_rank, and the number of skipped samples. Collective.
  metrics::Record combine(const Metrics& metrics, const ReportOptions& options);
  /// Completes the iteration of `record`. last_metrics() then returns the numbers in `record`.
  void complete_iteration(const metrics::Record& record);
  /// Writes `record` to result.json and the sinks, and notifies the callbacks. `metrics`: this rank's metrics. `state`
  /// returns the attached State, and is called if a sink reads it; empty if no State is attached. Collective.
  void write(metrics::Record record, const Metrics& metrics, const std::function<const State&()>& state);
  /// Returns the cause if a callback stops the run (batch::paused or batch::ended_early), otherwise batch::no_stop.
  /// Collective.
  batch::StopCause stop_by_callback();

  /// Notifies the callbacks that the run continues from a checkpoint with `iteration` reports. If a callback ends the run,
  /// the next vote stops it. Collective.
  void note_restored(std::int64_t iteration);

  /// Records progress that was read from a program's output, as Context::observe() describes. Collective.
  void observe(std::string_view position, const Metrics& seen);

  /// Returns the numbers of the run's last report, which this attempt or an earlier attempt made.
  const std::map<std::string, double>& last_metrics() const { return last_metrics_; }
  void set_last_metrics(std::map<std::string, double> metrics);
  /// Must be called before the checkpoint of a report is saved. If the last report has no number for config key
  /// checkpoint.score_attribute, logs a warning, once. The warning contains the names of the report's numbers and the most
  /// similar name.
  void check_score();

  /// Completes the files of the metrics sinks at the end of the attempt. Not collective.
  void end();

  Reporter& reporter() { return *reporter_; }
  SpeedWatch& speeds() { return speeds_; }

 private:
  bool sink_wants_state(std::int64_t iteration);
  void note_numbers(const metrics::Record& record);
  void warn_of_score(const std::string& why);
  void add_skipped_samples(metrics::Record& record);
  metrics::TimeSpent time_so_far() const;
  std::int64_t count_records_before(std::string_view key, double position);

  Parts parts_;
  std::unique_ptr<Reporter> reporter_;
  bool sinks_read_state_;  ///< whether a sink of rank 0 may read the State; the same on all ranks
  SpeedWatch speeds_;
  std::map<std::string, double> last_metrics_;
  bool has_begun_ = false;
  bool has_warned_of_score_ = false;
  double synced_at_s_ = 0;  // monotonic_seconds() when observed records were last made durable
};

}  // namespace trainrt::trainer
