#pragma once
#include <cstdint>

#include "config/intervals.hpp"

namespace trainrt::config {

/// How a run continues after a rank or a program has died.
enum class Recovery {
  restart,  ///< all ranks start again from the newest checkpoint
  live      ///< all ranks of the node start again from a copy of the State in memory, if it is newer
};

/// Values of the config section [failure]: limits of restarts, exclusion of nodes, and timeouts in seconds.
struct FailureKeys {
  int max_failures = 0;  ///< maximum number of restarts within one allocation
  Recovery recovery = Recovery::restart;
  std::uint64_t memory_bytes = 0;  ///< maximum size of the copies of all ranks on a node; 0: half of the memory of the node
  int max_requeues = 0;            ///< maximum number of requeues per Slurm job
  int max_no_progress = 0;         ///< maximum number of consecutive attempts without progress; 0: no limit
  /// number of attempts ended by the same node after which the node is excluded; 0: off
  int exclude_bad_nodes = 0;
  /// ratio of a rank's own step time to that of the median rank at which the rank's node is excluded; 0: off
  double exclude_slow = 0;
  double exclude_slow_after_s = 0;  ///< minimum time that a rank must have been slow before its node is excluded
  int max_excluded_nodes = 0;       ///< maximum number of nodes that are excluded at the same time
  LimitOption stop_before_end;      ///< time before the end of the job at which the run saves and stops
  LimitOption hang_timeout;         ///< time without progress after which an attempt counts as hanging
  double launch_timeout_s = 0;      ///< maximum time that the ranks wait for each other at the start
  double collective_timeout_s = 0;  ///< maximum time that a rank waits for another rank in a collective
  double storage_timeout_s = 0;     ///< maximum wait for unavailable storage, and for a new directory to appear
};

}  // namespace trainrt::config
