#pragma once
#include <map>
#include <optional>
#include <string>

#include "data/batches/dataset_impl.hpp"

namespace trainrt::trainer {

/// Finds datasets for whose batches training steps wait too long. The current time is a parameter, so that tests can set
/// it.
class StarvationWatch {
 public:
  /// Returns a warning if the train thread has waited for batches of dataset `name` for more than the fraction
  /// `max_waiting` of the time since the previous check. Returns nothing if the previous check was less than
  /// `min_interval_s` seconds ago. The warning has the share of each reading stage, and advice. At most one warning is
  /// returned per dataset.
  std::optional<std::string> check(const std::string& name, const data::WalkState& walk, double now_s);
  static constexpr double min_interval_s = 20, max_waiting = 0.2;

 private:
  struct Check {
    double at_s = 0, waited_s = 0;
    std::array<double, data::stage_count> stages{};
    bool has_warned = false;
  };
  std::map<std::string, Check> checks_;  ///< by dataset
};

}  // namespace trainrt::trainer
