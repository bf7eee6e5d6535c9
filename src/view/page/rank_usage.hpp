#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::view::page {

/// Progress and resource usage of a rank: a rundir::RankStatus in which unknown values are nullopt.
struct RankUsage {
  std::int64_t rank = 0;
  std::string host, time, phase, waits_in;         ///< phase: see phase_of()
  std::optional<std::int64_t> step;                ///< nullopt if the attempt counts no steps
  std::optional<double> quiet_s;                   ///< time since its last progress; nullopt after its end
  std::optional<double> cpu_s, cpus;               ///< CPU time used; number of CPUs available to it
  std::optional<double> rss, peak, read, written;  ///< bytes
  std::optional<double> gpu, gpu_memory;           ///< utilization from 0 to 1, the mean of the attempt if known; bytes
  std::optional<double> energy_j;                  ///< of the node, in the record of the node's first rank
  bool ended = false;
};

/// Reads the rank records of an attempt, in order of ranks. Ranks without a record are left out.
std::vector<RankUsage> rank_usages_of(const std::string& run_dir, const rundir::AttemptRecord& attempt);

}  // namespace trainrt::view::page
