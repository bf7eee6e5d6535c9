#pragma once
#include <span>
#include <string>
#include <vector>

namespace trainrt::rundir {

/// A node that the run no longer uses: an entry of the file excluded_nodes.json, which applies to all later jobs of the
/// run. Users may add and remove entries.
struct ExcludedNode {
  std::string node;  ///< name of the node in Slurm
  std::string why;
  int since_attempt = 0;  ///< number of the attempt after which the node was excluded; 0 if a user's entry names no attempt
  std::string time;       ///< time of the exclusion, UTC; "" if a user's entry names no time
};

inline constexpr const char* excluded_nodes_name = "excluded_nodes.json";

/// Reads the excluded nodes of a run from excluded_nodes.json; returns an empty list if the file does not exist. If the
/// file is invalid, throws a UsageError that names the file and the problem.
std::vector<ExcludedNode> read_excluded_nodes(const std::string& run_dir);

/// Replaces a run's list of excluded nodes, excluded_nodes.json, atomically and durably. Throws StorageError.
void write_excluded_nodes(const std::string& run_dir, std::span<const ExcludedNode> nodes);

/// Returns the names of `nodes`, in their order.
std::vector<std::string> names_of(std::span<const ExcludedNode> nodes);

}  // namespace trainrt::rundir
