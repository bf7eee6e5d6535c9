#include "cli/start/workers_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "core/environment.hpp"
#include "core/process/cpus.hpp"
#include "core/process/memory.hpp"
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

}  // namespace

std::string workers_text(const config::RunSpec& spec) {
  if (!spec.scaling.has_fixed_workers()) return {};
  const int workers = workers_of(spec);
  if (workers == 0) return {};
  auto cpus = batch::parse_tasks_per_node(Environment::of_process().text("SLURM_JOB_CPUS_PER_NODE").value_or(""));
  const bool is_job = !cpus.empty();
  if (!is_job) cpus = {static_cast<int>(std::max<std::ptrdiff_t>(std::ranges::count(affinity_of_this_thread(), '1'), 1))};
  const auto resources = resources_on(workers, cpus);
  if (is_job) {
    std::vector<std::string> hosts;
    for (const auto& rank : resources.ranks) hosts.push_back(fmt::format("node {} of the job", rank.node + 1));
    trainer::require_fit(spec, resources, hosts);
  }
  auto text = trainer::sharing_in_words(workers, resources.cpus(), resources.nodes()) + (is_job ? "" : ", on this machine");
  if (const auto used = trainer::recorded_memory(spec.run_dir); used.max_peak > 0)
    text += fmt::format("; a worker has used up to {} of memory", gibibytes(static_cast<std::uint64_t>(used.max_peak)));
  return text;
}

}  // namespace trainrt::cli
