#include "batch/other_nodes.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "core/text/text.hpp"

namespace trainrt::batch {

namespace {

/// Returns whether Slurm can allocate a node in the sinfo state `state`. Examples: true for "idle" and "mixed~" (powered
/// down until it is needed); false for "down" and for any state with "*" (the node does not respond).
bool is_allocatable(std::string_view state) {
  constexpr std::array usable = {"idle", "mixed", "allocated", "completing", "planned"};
  return state.find('*') == std::string_view::npos &&
         std::ranges::any_of(usable, [&](std::string_view each) { return state.starts_with(each); });
}

bool is_in(std::span<const std::string> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::vector<PartitionNode> parse_partition(std::string_view text) {
  std::vector<PartitionNode> nodes;
  std::set<std::string> seen;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    PartitionNode node;
    std::string state;
    if (!(words >> node.name >> state)) continue;
    std::getline(words >> std::ws, node.kind);
    node.kind = trim(node.kind);
    node.allocatable = is_allocatable(state);
    if (seen.insert(node.name).second) nodes.push_back(std::move(node));
  }
  return nodes;
}

std::string why_no_other_nodes(const JobFacts& job, std::span<const PartitionNode> partition,
                               std::span<const std::string> excluded) {
  if (!job.may_requeue) return "the job may not be requeued (sbatch --requeue)";
  if (!job.requested_nodes.empty()) return "the job requests its nodes by name (sbatch --nodelist)";
  std::set<std::string> kinds;
  for (const auto& node : partition)
    if (is_in(excluded, node.name)) kinds.insert(node.kind);
  const auto others = std::ranges::count_if(partition, [&](const PartitionNode& node) {
    return node.allocatable && !is_in(excluded, node.name) && kinds.contains(node.kind);
  });
  if (others >= job.node_count) return {};
  return fmt::format("partition {} has {} other node{} of this kind, but the job needs {}", job.partition, others,
                     others == 1 ? "" : "s", job.node_count);
}

}  // namespace trainrt::batch
