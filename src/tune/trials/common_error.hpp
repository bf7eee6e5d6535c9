#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Returns the first trial that has no value in common with trial 0, in the keys of the space whose values differ among the
/// first trials; nothing if there is none.
std::optional<std::uint64_t> trial_unlike_first(const Sweep& sweep);

/// The error of the config that all trials share, which ends a sweep: two trials ended with exit code 64 and the same words
/// before a report, and have no value in common. Only trials that ended after this object was made count.
class CommonError {
 public:
  CommonError(const Sweep& sweep, const History& before);
  /// Returns the words of the error that the trial shares with another one; "" if it shares none.
  std::string of_trial(const History& history, std::uint64_t trial) const;
  /// The same of any trial.
  std::string of_any(const History& history) const;

 private:
  bool is_refused(std::uint64_t number, const Trial& trial) const;
  Params params_of(const History& history, std::uint64_t trial) const;

  const Sweep& sweep_;
  std::vector<std::string> varied_keys_;
  std::set<std::uint64_t> refused_before_;
};

}  // namespace trainrt::tune
