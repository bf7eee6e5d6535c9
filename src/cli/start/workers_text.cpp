#include "cli/start/workers_text.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "core/environment.hpp"
#include "core/process/cpus.hpp"
#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/records/same_bits.hpp"
#include "trainer/start/global_batch.hpp"

namespace trainrt::cli {

namespace {

int workers_of(const config::RunSpec& spec) {
  if (spec.scaling.num_workers > 0) return spec.scaling.num_workers;
  const auto record = rundir::read_run_record(spec.run_dir);
  return record ? trainer::workers_of_run(spec.run_dir, *record) : 0;
}

/// Returns the resources of `workers` ranks in equal blocks on nodes with these numbers of CPUs. All nodes are assumed to
/// have the memory of this one.
trainer::RankResources resources_on(int workers, const std::vector<int>& cpus) {
  trainer::RankResources resources;
  const auto nodes = static_cast<int>(cpus.size());
  for (int rank = 0; rank < workers; ++rank) {
    const int node = static_cast<int>(static_cast<std::int64_t>(rank) * nodes / workers);
    resources.ranks.push_back({.node = node,
                               .affinity = std::string(static_cast<std::size_t>(cpus[static_cast<std::size_t>(node)]), '1'),
                               .memory = memory_limit()});
  }
  return resources;
}

/// Returns a clause with the memory that the workers of a node may need, and the memory of this node.
std::string memory_text(const trainer::RecordedMemory& used, const trainer::RankResources& resources) {
  const auto workers = static_cast<int>(resources.ranks.size()), nodes = std::max(resources.nodes(), 1);
  const int per_node = (workers + nodes - 1) / nodes;
  const auto peak = static_cast<std::uint64_t>(used.max_peak), needed = peak * static_cast<std::uint64_t>(per_node);
  const auto available = memory_limit();
  return fmt::format("; a worker has used up to {} of memory, so {} need up to {}, and this node has {}{}", gibibytes(peak),
                     counted(per_node, "worker") + (nodes > 1 ? " on a node" : ""), gibibytes(needed), gibibytes(available),
                     needed > available ? ", which is too little" : "");
}

}  // namespace

std::string workers_text(const config::RunSpec& spec) {
  if (!spec.scaling.has_fixed_workers()) return {};
  const int workers = workers_of(spec);
  if (workers == 0) return {};
  auto cpus = batch::parse_tasks_per_node(Environment::of_process().text("SLURM_JOB_CPUS_PER_NODE").value_or(""));
  const bool is_job = !cpus.empty();
  if (!is_job) cpus = {cpus_of_this_thread()};
  const auto resources = resources_on(workers, cpus);
  if (is_job) {
    std::vector<std::string> hosts;
    for (const auto& rank : resources.ranks) hosts.push_back(fmt::format("node {} of the job", rank.node + 1));
    trainer::require_fit(spec, resources, hosts);
  }
  auto text = trainer::sharing_in_words(workers, resources.cpus(), resources.nodes()) + (is_job ? "" : ", on this machine");
  if (const auto used = trainer::recorded_memory(spec.run_dir); used.max_peak > 0) text += memory_text(used, resources);
  return text + fmt::format("; all attempts have {}", counted(workers, "worker"));
}

std::string workers_text(const view::RunSummary& run) {
  const int workers = run.record.workers;
  if (workers == 0) return {};
  const auto text_of = [&](const char* key) {
    const auto found = run.record.spec.find(key);
    return found == run.record.spec.end() ? std::string() : found->second;
  };
  const auto on_resize = text_of("scaling.on_resize"), min_workers = text_of("scaling.min_workers");
  const bool is_default = on_resize.empty() && (min_workers.empty() || min_workers == "0");
  std::string text = std::to_string(workers);
  if (is_default || on_resize == "same_bits")
    text += fmt::format(" in every attempt (scaling.on_resize = same_bits{})", is_default ? ", the default" : "");
  if (run.attempts.empty() || run.usages.back().cpus == 0) return text;
  const auto& attempt = run.attempts.back();
  const std::set<std::string> nodes(attempt.nodes.begin(), attempt.nodes.end());
  return text + fmt::format("; attempt {}: {}", attempt.number,
                            trainer::sharing_in_words(attempt.ranks, static_cast<int>(run.usages.back().cpus),
                                                      static_cast<int>(nodes.size())));
}

}  // namespace trainrt::cli
