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

void NodeExclusions::take_end(const config::RunSpec& spec) {
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
    return log::warning(fmt::format("{} is not left out ({}): {} already {} (failure.max_excluded_nodes)", bad->name,
                                    bad->why, counted(static_cast<std::int64_t>(nodes_.size()), "node"),
                                    nodes_.size() == 1 ? "is" : "are"));
  add(spec, {.node = bad->name, .why = bad->why, .since_attempt = ends.back().attempt, .time = utc_now()});
}

void NodeExclusions::add(const config::RunSpec& spec, rundir::ExcludedNode node) {
  log::warning(
      fmt::format("{} is left out from now on: {}. {}/{} keeps that; the run uses the node again if its entry is "
                  "removed",
                  node.node, node.why, spec.run_dir, rundir::excluded_nodes_name));
  nodes_.push_back(std::move(node));
  try {
    rundir::write_excluded_nodes(spec.run_dir, nodes_);
  } catch (const Error& error) {
    log::warning(fmt::format("that could not be written down, and holds for this job alone: {}", error.what()));
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
    return fmt::format("{} already left out (failure.max_excluded_nodes)",
                       counted(static_cast<std::int64_t>(nodes_.size()), "node"));
  auto names = rundir::names_of(nodes_);
  auto next = std::ranges::find_if(situation.nodes, [&](const auto& node) { return !is_in(names, node.name); });
  if (next == situation.nodes.end()) return "Slurm does not tell of the job's nodes";
  names.push_back(next->name);
  for (auto& node : situation.nodes) node.excluded = is_in(names, node.name);
  situation.no_other_nodes = job_.no_other_nodes(facts, names);
  return batch::why_not_without_excluded(situation, limits);
}

void NodeExclusions::pass_on(const std::optional<batch::JobFacts>& before) const {
  if (nodes_.empty()) return;
  const auto names = rundir::names_of(nodes_);
  if (const auto error = job_.exclude(names, before); !error.empty())
    log::warning(fmt::format("job {} may get nodes again that are left out ({}). Submit it with `sbatch --exclude={}`",
                             job_.task_id(), error, join(names, ",")));
}

}  // namespace trainrt::cli
