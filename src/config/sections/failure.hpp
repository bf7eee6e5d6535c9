#pragma once
#include "config/intervals.hpp"

namespace trainrt::config {

/// The values of [failure]. Times are in seconds.
struct FailureKeys {
  int max_failures = 0;       ///< restarts in one allocation
  int max_requeues = 0;       ///< of one job
  int max_no_progress = 0;    ///< attempts in a row that get no further
  int exclude_bad_nodes = 0;  ///< ends of attempts that make a node a bad one; 0: none is
  double exclude_slow = 0;    ///< times the median of the ranks' own times; 0: none is too slow
  double exclude_slow_after_s = 0;
  int max_excluded_nodes = 0;  ///< at a time
  LimitOption stop_before_end;
  LimitOption hang_timeout;
  double launch_timeout_s = 0;
  double collective_timeout_s = 0;
  double storage_timeout_s = 0;
};

}  // namespace trainrt::config
