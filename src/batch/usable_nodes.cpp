#include "batch/usable_nodes.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::batch {

UsableNodes usable_nodes(const Situation& situation, const RestartLimits& limits, ExcludedNodes excluded) {
  UsableNodes usable;
  int usable_tasks = 0;
  int all_tasks = 0;
  const bool is_fixed = limits.fixed_workers > 0;
  for (const auto& node : situation.nodes) {
    all_tasks += node.tasks;
    const bool is_left_out = node.excluded && excluded == ExcludedNodes::left_out;
    const bool is_used = node.healthy && !is_left_out;
    if (is_used && is_fixed && std::ssize(usable.nodes) >= limits.fixed_workers) continue;  // a task for each node
    if (is_used) usable_tasks += node.tasks;
    if (is_used) usable.cpus += node.cpus;
    (!node.healthy ? usable.lost : is_left_out ? usable.excluded : usable.nodes).push_back(node.name);
  }
  usable.wanted = is_fixed ? limits.fixed_workers : limits.workers > 0 ? limits.workers : all_tasks;
  usable.tasks = is_fixed ? limits.fixed_workers : std::min(usable.wanted, usable_tasks);
  const int tasks = situation.tasks > 0 ? situation.tasks : all_tasks;
  usable.is_allocation = usable.lost.empty() && usable.excluded.empty() && usable.wanted == tasks;
  return usable;
}

namespace {

/// Returns whether `usable.wanted` workers fit into the memory of the nodes in `usable`; true if the number of workers
/// that fit into a node is unknown.
bool has_memory(const UsableNodes& usable, const RestartLimits& limits) {
  return limits.max_workers_per_node == 0 ||
         usable.wanted <= static_cast<int>(usable.nodes.size()) * limits.max_workers_per_node;
}

}  // namespace

bool suffices(const UsableNodes& usable, const RestartLimits& limits) {
  if (usable.nodes.empty()) return false;
  if (limits.fixed_workers > 0) return usable.cpus >= limits.min_cpus && has_memory(usable, limits);
  return usable.tasks >= usable.wanted || (limits.min_workers > 0 && usable.tasks >= limits.min_workers);
}

std::string shortage_of(const UsableNodes& usable, const RestartLimits& limits) {
  if (limits.fixed_workers == 0)
    return fmt::format("{} workers are left, at least {} are needed", usable.tasks, limits.min_workers);
  if (usable.cpus < limits.min_cpus || usable.nodes.empty())
    return fmt::format("{} CPUs are left, at least {} are needed", usable.cpus, limits.min_cpus);
  return fmt::format("the memory of a node suffices for {} workers, but {} workers would have to share {} node{}",
                     limits.max_workers_per_node, usable.wanted, usable.nodes.size(), usable.nodes.size() == 1 ? "" : "s");
}

std::string described_step(const UsableNodes& usable, const RestartLimits& limits) {
  const auto names = fmt::format("{}", fmt::join(usable.nodes, ","));
  if (limits.fixed_workers == 0) return fmt::format("{} of {} workers, on {}", usable.tasks, usable.wanted, names);
  const auto workers = usable.wanted == 1 ? std::string("the only worker") : fmt::format("all {} workers", usable.wanted);
  return fmt::format("{} on {} of {}", workers, counted(usable.cpus, "CPU"), names);
}

}  // namespace trainrt::batch
