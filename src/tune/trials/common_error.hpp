#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Returns the first trial that has no varied value in common with trial 0; nullopt if every trial shares such a value
/// with trial 0. A value is varied if its key has different values in the first trials.
std::optional<std::uint64_t> trial_unlike_first(const Sweep& sweep);

/// Detects a config error that all trials share. Such an error ends the sweep. There are two cases:
/// - Two trials without a common value exited with 64 and the same message before a report.
/// - A trial did not report tune.metric, and no other trial has reported it.
///
/// Only trials that ended after this object was created count. A trial that lacked the same metric before that time
/// does not count, so that the next start of the sweep tries a different trial.
class CommonError {
 public:
  CommonError(const Sweep& sweep, const History& before);
  /// Returns the error message if the trial ends the sweep, or "".
  std::string of_trial(const History& history, std::uint64_t trial) const;
  /// Returns the error message if any trial ends the sweep, or if all trials failed and none has reported tune.metric; else
  /// "".
  std::string of_any(const History& history) const;

 private:
  bool lacks_metric(const History& history, std::uint64_t trial) const;
  std::string metric_error(const MissingMetric& missing) const;
  bool is_refused(std::uint64_t number, const Trial& trial) const;
  Params params_of(const History& history, std::uint64_t trial) const;

  const Sweep& sweep_;
  std::vector<std::string> varied_keys_;
  std::set<std::uint64_t> refused_before_;
  std::map<std::uint64_t, std::string> lacked_before_;  ///< the missing metric, by trial
};

}  // namespace trainrt::tune
