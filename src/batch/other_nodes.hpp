#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

struct JobFacts;

/// A node of the partition of a job.
struct PartitionNode {
  std::string name;
  bool allocatable = false;  ///< Slurm can give it to a job, now or after another job has ended
  std::string kind;          ///< features, CPUs and generic resources; nodes of equal kind can replace each other
};

/// The sinfo format that parse_partition() reads.
inline constexpr std::string_view partition_format = "%N %T %f %c %G";

/// Parses the output of `sinfo --Node --format=` with `partition_format`, one line per node. A node that is listed for
/// several partitions is returned once. Pure function.
std::vector<PartitionNode> parse_partition(std::string_view text);

/// Returns why a requeue of the job cannot replace the nodes in `excluded`; "" if the partition has at least as many other
/// nodes of their kinds as the job needs. Pure function.
std::string why_no_other_nodes(const JobFacts& job, std::span<const PartitionNode> partition,
                               std::span<const std::string> excluded);

}  // namespace trainrt::batch
