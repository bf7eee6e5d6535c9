#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// A node that the run no longer uses: an entry of excluded_nodes.json, which applies to all later jobs of the run. Users
/// may remove entries or add some.
struct ExcludedNode {
  std::string node;  ///< Slurm's name of the node
  std::string why;
  int since_attempt = 0;  ///< attempt after which it was excluded; 0 if a user's entry does not name it
  std::string time;       ///< UTC; "" if a user's entry does not name it
};

inline constexpr const char* excluded_nodes_name = "excluded_nodes.json";

/// Reads the excluded nodes of a run; returns an empty list if the file does not exist. Throws UsageError, which names the
/// file and the problem, if it is invalid.
std::vector<ExcludedNode> read_excluded_nodes(const std::string& run_dir);

/// Replaces the excluded nodes of a run, atomically and durably. Throws StorageError.
void write_excluded_nodes(const std::string& run_dir, std::span<const ExcludedNode> nodes);

/// Returns the names of the nodes.
std::vector<std::string> names_of(std::span<const ExcludedNode> nodes);

}  // namespace trainrt::rundir
