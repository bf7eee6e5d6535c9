#include "cli/supervise/node_exclusions.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "batch/bad_nodes.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"

namespace trainrt::cli {

namespace {

std::vector<batch::NodeEnd> node_ends(const std::string& run_dir) {
  std::vector<batch::NodeEnd> ends;
  for (const auto& attempt : rundir::read_attempts(run_dir, rundir::max_recent_attempts))
    ends.push_back({.attempt = attempt.number,
                    .node = attempt.blamed_node,
                    .slow = attempt.exit_code == static_cast<int>(ExitCode::stopped),
                    .why = attempt.why});
  return ends;
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

void NodeExclusions::read(const config::RunSpec& spec) { nodes_ = rundir::read_excluded_nodes(spec.run_dir); }

void NodeExclusions::update_after_attempt(const config::RunSpec& spec) {
  try {
    read(spec);
  } catch (const Error& error) {
    log::warning(error.what());
  }
  const auto ends = node_ends(spec.run_dir);
  const batch::ExclusionRules rules{.min_ends = spec.failure.exclude_bad_nodes,
                                    .max_nodes = spec.failure.max_excluded_nodes};
  const auto bad = batch::bad_node(ends, rundir::names_of(nodes_), rules);
  if (!bad) return;
  if (!bad->can_exclude)
    return log::warning(
        fmt::format("node {} is not excluded ({}): {} excluded already, the maximum (failure.max_excluded_nodes)",
                    bad->name, bad->why, counted(static_cast<std::int64_t>(nodes_.size()), "node")));
  add(spec, {.node = bad->name, .why = bad->why, .since_attempt = ends.back().attempt, .time = utc_now()});
}

void NodeExclusions::add(const config::RunSpec& spec, rundir::ExcludedNode node) {
  log::warning(fmt::format("node {} is excluded from now on: {}. To use it again, remove its entry from {}/{}", node.node,
                           node.why, spec.run_dir, rundir::excluded_nodes_name));
  nodes_.push_back(std::move(node));
  try {
    rundir::write_excluded_nodes(spec.run_dir, nodes_);
  } catch (const Error& error) {
    log::warning(
        fmt::format("the excluded node could not be recorded, and is excluded in this job only: {}", error.what()));
  }
}

void NodeExclusions::mark(batch::Situation& situation, const std::optional<batch::JobFacts>& facts) const {
  if (nodes_.empty()) return;
  const auto names = rundir::names_of(nodes_);
  for (auto& node : situation.nodes) node.excluded = is_in(names, node.name);
  situation.no_other_nodes = job_.no_other_nodes(facts, names);
}

std::string NodeExclusions::refusal(batch::Situation situation, const std::optional<batch::JobFacts>& facts,
                                    const batch::RestartLimits& limits, int max_nodes) const {
  if (nodes_.size() >= static_cast<std::size_t>(max_nodes))
    return fmt::format("{} excluded already, the maximum (failure.max_excluded_nodes)",
                       counted(static_cast<std::int64_t>(nodes_.size()), "node"));
  auto names = rundir::names_of(nodes_);
  const auto next = std::ranges::find_if(situation.nodes, [&](const auto& node) { return !is_in(names, node.name); });
  if (next == situation.nodes.end()) return "Slurm does not report the nodes of the job";
  names.push_back(next->name);
  for (auto& node : situation.nodes) node.excluded = is_in(names, node.name);
  situation.no_other_nodes = job_.no_other_nodes(facts, names);
  return batch::why_not_without_excluded(situation, limits);
}

void NodeExclusions::apply_to_requeued_job(const std::optional<batch::JobFacts>& before) const {
  if (nodes_.empty()) return;
  const auto names = rundir::names_of(nodes_);
  if (const auto error = job_.exclude(names, before); !error.empty())
    log::warning(fmt::format("job {} may get excluded nodes again ({}). Submit it with `sbatch --exclude={}`",
                             job_.task_id(), error, join(names, ",")));
}

}  // namespace trainrt::cli
