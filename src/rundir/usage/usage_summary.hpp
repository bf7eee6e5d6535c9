#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/rank_status.hpp"

namespace trainrt::rundir {

/// The resource usage of all ranks of an attempt, or of all attempts of a run. A killed rank counts with its last status.
struct UsageSummary {
  std::int64_t ranks = 0;      ///< number of ranks with a valid status, summed over attempts; 0: nothing is known
  double cpu_s = 0;            ///< CPU time
  double available_cpu_s = 0;  ///< number of available CPUs times seconds; CPUs that ranks of a node share count once
  std::int64_t peak = -1;      ///< maximum bytes of memory of a rank; -1: unknown, here and below
  std::int64_t peak_rank = -1;
  std::int64_t read = -1;          ///< bytes read from storage
  std::int64_t written = -1;       ///< bytes written to storage
  double gpu_busy_s = 0;           ///< seconds of ranks with GPUs, times their GPU utilization
  double gpu_s = 0;                ///< seconds of ranks with GPUs
  std::optional<double> energy_j;  ///< joules of all nodes that measure energy
  std::string energy_of;           ///< RankStatus::energy_of; "" if nodes differ, or if no node measures energy

  std::optional<double> cpu_use() const;  ///< fraction of the available CPU time that was used, 0 to 1
  std::optional<double> gpu_use() const;  ///< mean GPU utilization, 0 to 1
};

/// Returns the usage of an attempt's ranks.
UsageSummary usage_of(const std::vector<std::optional<RankStatus>>& statuses);
/// Returns the sum over attempts.
UsageSummary sum_of(const std::vector<UsageSummary>& attempts);

}  // namespace trainrt::rundir
