#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// A point in time, as a value that tests can choose.
struct Moment {
  double monotonic_s = 0;   ///< seconds on the monotonic clock
  std::int64_t unix_s = 0;  ///< seconds since 1970, UTC
  static Moment now();
};

/// How the time of an attempt was used up to a report, in seconds.
struct TimeSpent {
  double startup_s = 0;                                          ///< until its first step can have begun
  double checkpoint_s = 0;                                       ///< the train thread was blocked by saves
  double data_s = 0;                                             ///< the train thread waited for [data.NAME]
  std::vector<std::pair<std::string, double>> data_stages = {};  ///< reading of data by stage, summed over all threads
  double total_s = 0;                                            ///< since the start of the process
  double steps_s = 0;                                            ///< the remaining time
};

/// Adds the runtime's keys to each record, with the names and meanings of Ray Train.
///
/// Always: _timestamp (Unix seconds), _training_iteration (from 1), and _time_this_iter_s, the seconds since the last
/// report; for the first iteration since its first step can have begun. Time between two attempts does not count, nor do
/// steps that a restart repeats.
///
/// With `detailed` also: _date ("2026-11-21_01-02-03", local time), _hostname, _node_ip, _pid, _step (number of steps of
/// the run), _time_total_s (all iterations of the run, including earlier attempts), and for the current attempt
/// _time_startup_s, _time_checkpoint_s, _time_data_s, _time_data_STAGE_s of each stage of reading data, and _goodput (the
/// share of its time, from 0 to 1, that was used for steps, including waits for data).
class Autofill {
 public:
  /// `history` has the earlier records of the run. `start` is the moment at which the first iteration began; if an earlier
  /// attempt made a part of it, the moment at which it would have begun in this attempt alone.
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
