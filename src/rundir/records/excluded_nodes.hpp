#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// A node that a run does without from some attempt on: an entry of excluded_nodes.json, which holds for all later jobs of
/// the run, and from which people may take entries, or add some.
struct ExcludedNode {
  std::string node;  ///< as Slurm calls it
  std::string why;
  int since_attempt = 0;  ///< the attempt that it was left out after; 0: a person's entry that does not say
  std::string time;       ///< UTC; "" likewise
};

inline constexpr const char* excluded_nodes_name = "excluded_nodes.json";

/// None if there is no such file. UsageError that names the file and what is wrong in it.
std::vector<ExcludedNode> read_excluded_nodes(const std::string& run_dir);

/// In the place of what is there: whole or not at all, and durable. StorageError.
void write_excluded_nodes(const std::string& run_dir, std::span<const ExcludedNode> nodes);

std::vector<std::string> names_of(std::span<const ExcludedNode> nodes);

}  // namespace trainrt::rundir
