#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// A point in time, on the monotonic clock and as Unix time. Tests can choose the values.
struct Moment {
  double monotonic_s = 0;   ///< seconds on the monotonic clock
  std::int64_t unix_s = 0;  ///< Unix time: seconds since 1970, UTC
  static Moment now();
};

/// How the current attempt has used its time up to a report, in seconds.
struct TimeSpent {
  /// Time from the start of the attempt to the earliest possible start of its first training step.
  double startup_s = 0;
  /// Time for which saves of checkpoints blocked the training thread.
  double checkpoint_s = 0;
  /// Time for which the training thread waited for batches of the config's [data.NAME] sections.
  double data_s = 0;
  /// Time spent in each stage of reading data, by name, summed over all threads.
  std::vector<std::pair<std::string, double>> data_stages = {};
  double total_s = 0;  ///< time since the start of the process
  double steps_s = 0;  ///< the remaining time, which was used for training steps
};

/// Adds the keys that trainrt defines to each metric record, with the names and meanings of Ray Train.
///
/// Always:
/// - _timestamp: Unix time in seconds
/// - _training_iteration: number of the report, from 1
/// - _time_this_iter_s: seconds since the last report; for the first iteration, seconds since the earliest possible start
///   of its first training step. The time between two attempts does not count, nor does the time of steps that a restart
///   repeats.
///
/// Only if `detailed` is true:
/// - _date (local time, "2026-11-21_01-02-03"), _hostname, _node_ip, _pid
/// - _step: number of training steps of the run
/// - _time_total_s: time of all iterations of the run, including earlier attempts
/// - _time_startup_s, _time_checkpoint_s, _time_data_s, _time_data_STAGE_s for each stage of reading data: time in the
///   current attempt (TimeSpent)
/// - _goodput: share of the current attempt's time, from 0 to 1, that was used for training steps, including waits for data
class Autofill {
 public:
  /// `history` has the earlier metric records of the run. `start` is the moment at which the first iteration of this
  /// attempt began. If an earlier attempt has made a part of this iteration, `start` must be earlier by the duration of
  /// that part.
  Autofill(bool detailed, const std::vector<Record>& history, Moment start);
  void fill(Record& record, Moment now, const TimeSpent& time = {}, std::int64_t step = 0);

 private:
  void fill_details(Record& record, Moment now, const TimeSpent& time, std::int64_t step) const;

  bool detailed_;
  double last_s_;
  double total_s_ = 0;
  std::string host_;
  std::string address_;
};

}  // namespace trainrt::metrics
