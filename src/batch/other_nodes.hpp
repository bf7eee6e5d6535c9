#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

struct JobFacts;

/// A node of the Slurm partition that a job runs in.
struct PartitionNode {
  std::string name;
  bool allocatable = false;  ///< true if Slurm can allocate the node to a job, now or after another job has ended
  /// Features, number of CPUs and generic resources, as text; nodes of equal kind can replace each other.
  std::string kind;
};

/// The output format to pass to sinfo for parse_partition(): node, state, features, CPUs, generic resources.
inline constexpr std::string_view partition_format = "%N %T %f %c %G";

/// Parses the output of `sinfo --Node` in the format `partition_format`, which has one line per node and partition. A node
/// that belongs to several partitions is returned once. Pure function.
std::vector<PartitionNode> parse_partition(std::string_view text);

/// Returns the reason why a requeue of the job cannot replace the nodes in `excluded`; "" if it can, because `partition`
/// has at least as many other nodes of the same kinds as the job needs. Pure function.
std::string why_no_other_nodes(const JobFacts& job, std::span<const PartitionNode> partition,
                               std::span<const std::string> excluded);

}  // namespace trainrt::batch
