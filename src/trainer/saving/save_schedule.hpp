#pragma once
#include "config/run_spec.hpp"
#include "rundir/attempts/meter.hpp"
#include "trainer/saving/auto_interval.hpp"

namespace trainrt::trainer {

/// Returns the failures of the run's earlier attempts if checkpoint.every is `auto`, which needs them; otherwise an empty
/// history.
FailureHistory failure_history(const config::RunSpec& spec);

/// Decides when the next checkpoint is due by the clock: config key checkpoint.every in seconds, or `auto`, which learns
/// from the durations of saves. Used on the train thread.
class SaveSchedule {
 public:
  /// `every` must be default-constructed on ranks other than 0: only rank 0's clock decides. `history`: failures in earlier
  /// attempts. `meter` must outlive this object.
  SaveSchedule(config::CheckpointInterval every, const FailureHistory& history, int nodes, const rundir::Meter& meter);

  /// Returns whether a checkpoint is due. `has_reported`: this attempt has made a report. `is_in_flight`: a checkpoint is
  /// being written.
  bool is_due(bool has_reported, bool is_in_flight) const;
  /// Records that a save begins. `is_typical`: later saves will take about as long.
  void begin_save(bool is_typical);
  /// Learns from the duration of the save that has ended, and logs a new interval. Must not be called if the train thread
  /// has waited for the save on purpose: the measured cost would be too high.
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
