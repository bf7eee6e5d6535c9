#pragma once
#include "config/intervals.hpp"

namespace trainrt::config {

/// Values of the config section [failure]: limits of restarts, exclusion of nodes, and timeouts in seconds.
struct FailureKeys {
  int max_failures = 0;     ///< maximum number of restarts within one allocation
  int max_requeues = 0;     ///< maximum number of requeues per Slurm job
  int max_no_progress = 0;  ///< maximum number of consecutive attempts without progress; 0: no limit
  /// number of attempts that ended because of one node after which this node is excluded; 0: off
  int exclude_bad_nodes = 0;
  double exclude_slow =
      0;  ///< minimum ratio of a rank's own step time to the median of all ranks, for which its node is excluded; 0: off
  double exclude_slow_after_s = 0;
  int max_excluded_nodes = 0;  ///< maximum number of nodes that are excluded at the same time
  LimitOption stop_before_end;
  LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double collective_timeout_s = 0;
  double storage_timeout_s = 0;
};

}  // namespace trainrt::config
