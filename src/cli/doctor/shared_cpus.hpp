#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::cli {

/// The CPUs that a rank may run on.
struct RankCpus {
  int node = 0;
  std::string cpus;  ///< "1" or "0" for each, from CPU 0 on (program::affinity_of_this_thread())
};

/// Ranks of one node that may run on the same CPUs only, of which there are fewer than ranks.
struct Crowd {
  std::vector<int> ranks;
  std::string cpus;  ///< "0", "0-3,8"
};

/// Pure.
std::vector<Crowd> crowds_among(std::span<const RankCpus> ranks);

/// "0-3,8" of "111100001", as taskset(1) and Slurm write it. Pure.
std::string list_of_cpus(const std::string& cpus);

}  // namespace trainrt::cli
