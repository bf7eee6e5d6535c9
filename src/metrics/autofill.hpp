#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// A point in time, as a value, so that tests can make it up.
struct Moment {
  double monotonic_s = 0;   ///< never steps back
  std::int64_t unix_s = 0;  ///< since 1970, UTC
  static Moment now();
};

/// Where the time of an attempt went up to a report. Seconds.
struct TimeSoFar {
  double startup_s = 0;                                          ///< until its first step can have begun
  double checkpoint_s = 0;                                       ///< the train thread stood still for saves
  double data_s = 0;                                             ///< the train thread waited for [data.NAME]
  std::vector<std::pair<std::string, double>> data_stages = {};  ///< what reading them took, by stage; over all threads
  double total_s = 0;                                            ///< since its process started
  double steps_s = 0;                                            ///< the rest of that
};

/// The keys that the runtime adds to every record, with Ray Train's names and meanings: _timestamp (Unix seconds),
/// _time_this_iter_s (since the last report, at first since the first step can have begun; without the time between two
/// attempts, and what a restart repeats),
/// _training_iteration (from 1); and the detailed set, if asked for: _date ("2026-11-21_01-02-03", local time),
/// _hostname, _node_ip, _pid, _step (how many the run has made), _time_total_s (all iterations of the run, earlier attempts
/// included, the time between attempts not), and of this attempt so far _time_startup_s, _time_checkpoint_s, _time_data_s,
/// for each stage of reading data _time_data_STAGE_s, and _goodput (the share of its time that went into steps, waiting for
/// data included, from 0 to 1).
class Autofill {
 public:
  /// `history` holds the records that the run has already. `start`: when the first iteration began, or would have if all of
  /// it had been made in this attempt.
  Autofill(bool detailed, const std::vector<Record>& history, Moment start);
  void fill(Record& record, Moment now, const TimeSoFar& time = {}, std::int64_t step = 0);

 private:
  void fill_details(Record& record, Moment now, const TimeSoFar& time, std::int64_t step) const;

  bool detailed_;
  double last_s_;
  double total_s_ = 0;
  std::string host_;
  std::string address_;
};

}  // namespace trainrt::metrics
