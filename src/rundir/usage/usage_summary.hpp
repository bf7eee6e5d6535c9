#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/rank_status.hpp"

namespace trainrt::rundir {

/// What the ranks of an attempt used, or those of all attempts of a run. Of a rank that was killed it has what the rank had
/// written last.
struct UsageSummary {
  std::int64_t ranks = 0;  ///< whose lines could be read; 0: nothing is known. In a sum: of all attempts
  double cpu_s = 0;        ///< CPU time
  double given_s = 0;      ///< the CPUs that they had, times the time; CPUs that ranks of a node share count once
  std::int64_t peak = -1;  ///< bytes: the most memory of a rank; -1 = not known, here and below
  std::int64_t peak_rank = -1;
  std::int64_t read = -1;  ///< bytes of storage
  std::int64_t written = -1;
  double gpu_busy_s = 0, gpu_s = 0;  ///< of the ranks with GPUs: their time, with their GPUs' use and without it
  std::optional<double> energy_j;    ///< of the nodes that tell it
  std::string energy_of;             ///< RankSign::energy_of; "" if the nodes do not agree, or none tells it

  std::optional<double> cpu_use() const;  ///< of the CPUs that they had, 0 to 1
  std::optional<double> gpu_use() const;
};

UsageSummary usage_of(const std::vector<std::optional<RankSign>>& signs);
UsageSummary sum_of(const std::vector<UsageSummary>& attempts);

}  // namespace trainrt::rundir
