#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::batch {

struct JobFacts;

/// A node of a job's partition.
struct PartitionNode {
  std::string name;
  bool can_be_given = false;  ///< to a job, now or when another job ends
  std::string kind;           ///< features, CPUs and generic resources: nodes of a kind can stand in for each other
};

/// The format of sinfo that parse_partition() reads.
inline constexpr std::string_view partition_format = "%N %T %f %c %G";

/// One line of `sinfo --Node` a node; a node of several partitions comes once. Pure.
std::vector<PartitionNode> parse_partition(std::string_view text);

/// Why the job, once it is requeued, cannot get other nodes in place of `excluded`; "" if it can: as many others of their
/// kind as the job needs are in its partition. Pure.
std::string why_no_other_nodes(const JobFacts& job, std::span<const PartitionNode> partition,
                               std::span<const std::string> excluded);

}  // namespace trainrt::batch
