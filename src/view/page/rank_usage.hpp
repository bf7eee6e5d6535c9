#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::view::page {

/// Progress and resource usage of a rank. The struct has the values of a rundir::RankStatus; unknown values are
/// nullopt.
struct RankUsage {
  std::int64_t rank = 0;
  std::string host, time, phase, waits_in;         ///< phase: see phase_of()
  std::optional<std::int64_t> step;                ///< nullopt if the attempt counts no steps
  std::optional<double> quiet_s;                   ///< time since the last progress of the rank; nullopt after its end
  std::optional<double> cpu_s, cpus;               ///< CPU time used; number of CPUs that the rank may use
  std::optional<double> rss, peak, read, written;  ///< bytes
  std::optional<double> gpu, gpu_memory;           ///< utilization from 0 to 1 (mean of the attempt if known); bytes
  std::optional<double> energy_j;                  ///< energy used by the node; only in the record of the node's first rank
  bool ended = false;
};

/// Reads the rank records of an attempt, ordered by rank. Ranks without a record are left out.
std::vector<RankUsage> rank_usages_of(const std::string& run_dir, const rundir::AttemptRecord& attempt);

}  // namespace trainrt::view::page
