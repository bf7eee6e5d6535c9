#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Returns the first trial that differs from trial 0 in all keys whose values differ among the first trials; nothing if
/// every trial shares a value with it.
std::optional<std::uint64_t> trial_unlike_first(const Sweep& sweep);

/// Detects a config error that all trials share, which ends the sweep: two trials without a common value exited with 64 and
/// the same message before a report. Only trials that ended after this object was created count.
class CommonError {
 public:
  CommonError(const Sweep& sweep, const History& before);
  /// Returns the error message that the trial shares with another one, or "".
  std::string of_trial(const History& history, std::uint64_t trial) const;
  /// The same for any trial.
  std::string of_any(const History& history) const;

 private:
  bool is_refused(std::uint64_t number, const Trial& trial) const;
  Params params_of(const History& history, std::uint64_t trial) const;

  const Sweep& sweep_;
  std::vector<std::string> varied_keys_;
  std::set<std::uint64_t> refused_before_;
};

}  // namespace trainrt::tune
