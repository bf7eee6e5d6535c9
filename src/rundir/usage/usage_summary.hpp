#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/rank_status.hpp"

namespace trainrt::rundir {

/// The resource usage of all ranks of an attempt, or of all attempts of a run, computed from the ranks' statuses
/// (RankStatus). For a killed rank, the last status that it wrote is used.
struct UsageSummary {
  std::int64_t ranks = 0;  ///< number of ranks with a valid status, summed over attempts; 0: usage is unknown
  double cpu_s = 0;        ///< CPU time used, in seconds
  /// number of available CPUs of an attempt; CPUs that several ranks of a node share count once. 0: unknown, or this
  /// object is the sum of several attempts
  std::int64_t cpus = 0;
  /// available CPU time in seconds: the time of each available CPU, summed; CPUs that several ranks share count once
  double available_cpu_s = 0;
  std::int64_t peak = -1;  ///< maximum bytes of memory of any rank; -1: unknown
  std::int64_t peak_rank = -1;
  std::int64_t read = -1;          ///< bytes read from storage; -1: unknown
  std::int64_t written = -1;       ///< bytes written to storage; -1: unknown
  double gpu_busy_s = 0;           ///< sum over all ranks with GPUs: running time in seconds times mean GPU utilization
  double gpu_s = 0;                ///< sum over all ranks with GPUs: running time in seconds
  std::optional<double> energy_j;  ///< joules used by all nodes that measure energy
  /// components that energy_j includes (RankStatus::energy_of); "" if nodes differ, or if no node measures energy
  std::string energy_of;

  std::optional<double> cpu_use() const;  ///< fraction of the available CPU time that was used, 0 to 1
  std::optional<double> gpu_use() const;  ///< mean GPU utilization, 0 to 1
};

/// Returns the resource usage of an attempt, from the last status of each of its ranks.
UsageSummary usage_of(const std::vector<std::optional<RankStatus>>& statuses);
/// Returns the number of CPUs that the ranks of an attempt may use. CPUs that several ranks of a node share count once.
std::int64_t allowed_cpus(const std::vector<std::optional<RankStatus>>& statuses);
/// Returns the resource usage of a run: the sum over its attempts.
UsageSummary sum_of(const std::vector<UsageSummary>& attempts);

}  // namespace trainrt::rundir
