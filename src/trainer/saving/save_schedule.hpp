#pragma once
#include "config/run_spec.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/saving/auto_interval.hpp"

namespace trainrt::trainer {

/// Returns the failures of the run's earlier attempts if config key checkpoint.every is `auto`. Otherwise returns an empty
/// history without reading records.
FailureHistory failure_history(const config::RunSpec& spec);

/// Decides when the next checkpoint is due by the clock. Config key checkpoint.every is a number of seconds, or `auto`: the
/// interval is then computed from the durations of earlier saves. Must be used on the train thread.
class SaveSchedule {
 public:
  /// `every` must be default-constructed on ranks other than 0, since only rank 0's clock decides. `history` has the
  /// failures of earlier attempts, and `nodes` is the number of nodes. `meter` must outlive this object.
  SaveSchedule(config::CheckpointInterval every, const FailureHistory& history, int nodes, const rundir::Meter& meter);

  /// Returns whether a checkpoint is due. `has_reported` is true if this attempt has made a report. `is_in_flight` is true
  /// while a checkpoint is being written.
  bool is_due(bool has_reported, bool is_in_flight) const;
  /// Records that a save begins. `is_typical` is true if later saves are expected to take about as long as this save.
  void begin_save(bool is_typical);
  /// Updates the interval from the duration of the save that has ended, and logs a changed interval. Must not be called if
  /// the train thread waited for the save on purpose, since the measured cost would be too high.
  void learn();
  /// Returns the time since the last save began, in seconds.
  double since_begin_s() const;

 private:
  config::CheckpointInterval every_;
  AutoInterval auto_interval_;
  const rundir::Meter& meter_;
  double began_s_;               // monotonic_seconds() at the begin of the last save, or of the attempt
  double stalled_before_s_ = 0;  // Meter::stalled_s() at the begin of the last save
  bool is_typical_ = true;
};

}  // namespace trainrt::trainer
