#pragma once
#include "config/intervals.hpp"

namespace trainrt::config {

/// The values of [failure]. Times are in seconds.
struct FailureKeys {
  int max_failures = 0;       ///< restarts within one allocation
  int max_requeues = 0;       ///< per job
  int max_no_progress = 0;    ///< consecutive attempts without progress; 0: no limit
  int exclude_bad_nodes = 0;  ///< attempts that ended because of a node, until it is excluded; 0: off
  double exclude_slow = 0;    ///< a rank's own time divided by the median of all ranks'; 0: off
  double exclude_slow_after_s = 0;
  int max_excluded_nodes = 0;  ///< at a time
  LimitOption stop_before_end;
  LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double collective_timeout_s = 0;
  double storage_timeout_s = 0;
};

}  // namespace trainrt::config
