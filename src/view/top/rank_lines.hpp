#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rundir/records/attempt_record.hpp"

namespace trainrt::view {

/// What a rank is at and has used, for a page about the run: rundir::RankStatus with nothing for what is not known.
struct RankLine {
  std::int64_t rank = 0;
  std::string host, time, phase, waits_in;         ///< phase: phase_of()
  std::optional<std::int64_t> step;                ///< none if the attempt counts no steps
  std::optional<double> quiet_s;                   ///< since its last sign of progress; none once it has ended
  std::optional<double> cpu_s, cpus;               ///< used; and how many CPUs it may use
  std::optional<double> rss, peak, read, written;  ///< bytes
  std::optional<double> gpu, gpu_memory;           ///< 0 to 1, the mean of the attempt if it is known; bytes
  std::optional<double> energy_j;                  ///< of its node, if it is the first there
  bool ended = false;
};

/// Those ranks of an attempt that have written theirs, by rank. None if there is no such file.
std::vector<RankLine> rank_lines_of(const std::string& run_dir, const rundir::AttemptRecord& attempt);

}  // namespace trainrt::view
