#pragma once
#include <string>
#include <vector>

#include "batch/restart_decision.hpp"

namespace trainrt::batch {

/// The nodes of the job's allocation, sorted by whether the next attempt can use them.
struct UsableNodes {
  std::vector<std::string> nodes;
  std::vector<std::string> lost;
  std::vector<std::string> excluded;  ///< healthy nodes that the next attempt should avoid
  int tasks = 0;                      ///< number of tasks to run on `nodes`, at most `wanted`
  int wanted = 0;                     ///< number of tasks that a job step on all nodes would have
  int cpus = 0;                       ///< number of CPUs of `nodes`
  bool is_allocation = false;         ///< true if a plain job step on the complete allocation has `wanted` tasks
};

enum class ExcludedNodes { left_out, used };

/// Returns the nodes that the next attempt can use. With RestartLimits::fixed_workers, that many tasks run on any number of
/// nodes, and `nodes` has at most one node per task. Pure function.
UsableNodes usable_nodes(const Situation& situation, const RestartLimits& limits,
                         ExcludedNodes excluded = ExcludedNodes::left_out);

/// Returns whether the run can continue on `usable`: with all its tasks, or with as many as its limits require. Pure
/// function.
bool suffices(const UsableNodes& usable, const RestartLimits& limits);

/// Returns the reason why `usable` does not suffice, for a message in parentheses: "2 workers are left, at least 4 are
/// needed". Pure function.
std::string shortage_of(const UsableNodes& usable, const RestartLimits& limits);

/// Returns a description of a job step on `usable`, for a message: "2 of 4 workers, on n1,n2". Pure function.
std::string described_step(const UsableNodes& usable, const RestartLimits& limits);

}  // namespace trainrt::batch
