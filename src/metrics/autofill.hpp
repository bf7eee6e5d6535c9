#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "metrics/record.hpp"

namespace trainrt::metrics {

/// A point in time, as a value, so that tests can make it up.
struct Moment {
  double monotonic_s = 0;   ///< never steps back
  std::int64_t unix_s = 0;  ///< since 1970, UTC
  static Moment now();
};

/// The keys that the runtime adds to every record, with Ray Train's names and meanings: _timestamp (Unix seconds),
/// _time_this_iter_s (since the last report, or the start of the attempt), _training_iteration (from 1); and the detailed
/// set, where asked for: _date ("2026-11-21_01-02-03", local time), _hostname, _node_ip, _pid, _time_total_s (all
/// iterations of the run, earlier attempts included, the time between attempts not).
class Autofill {
 public:
  /// `history` holds the records that the run has already.
  Autofill(bool detailed, const std::vector<Record>& history, Moment start);
  void fill(Record& record, Moment now);

 private:
  void fill_details(Record& record, Moment now) const;

  bool detailed_;
  double last_s_;
  double total_s_ = 0;
  std::string host_;
  std::string address_;
};

}  // namespace trainrt::metrics
