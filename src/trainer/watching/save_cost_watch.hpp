#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/intervals.hpp"

namespace trainrt::trainer {

/// Finds out whether training waits for saves for too much of the time. The current time is a parameter, so that tests can
/// set it.
class SaveCostWatch {
 public:
  /// `every` is the value of config key checkpoint.every.
  explicit SaveCostWatch(config::CheckpointInterval every) : every_(every) {}

  /// Records a save. `stalled_s` is the total time for which the train thread has waited for saves. Returns a
  /// warning if these waits took more than the fraction `max_share` of the time since the previous check. Returns nothing
  /// if the previous check was less than `min_interval_s` seconds ago, or if a warning was returned before.
  std::optional<std::string> note_save(double now_s, double stalled_s);
  static constexpr double min_interval_s = 30, max_share = 0.2;

 private:
  config::CheckpointInterval every_;
  double checked_at_s_ = -1, stalled_before_s_ = 0;  ///< of the previous check; negative: there was none
  std::int64_t saves_ = 0;                           ///< number of saves since the previous check
  bool has_warned_ = false;
};

}  // namespace trainrt::trainer
