#include "trainer/records/same_bits.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "config/value_origin.hpp"
#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/recorded_memory.hpp"
#include "rundir/records/rank_status.hpp"

namespace trainrt::trainer {

namespace {

std::optional<rundir::AttemptRecord> newest_attempt(const std::string& run_dir) {
  auto attempts = io::retried([&] { return rundir::read_attempts(run_dir, 1); });
  if (attempts.empty()) return std::nullopt;
  return std::move(attempts.back());
}

RecordedMemory memory_of(int attempt, const std::vector<std::optional<rundir::RankStatus>>& statuses) {
  RecordedMemory memory{.attempt = attempt};
  std::map<std::string, int> of_hosts;
  for (const auto& status : statuses) {
    memory.peaks.push_back(status ? std::max<std::int64_t>(status->peak, 0) : 0);
    memory.max_peak = std::max(memory.max_peak, memory.peaks.back());
    if (status) memory.max_per_node = std::max(memory.max_per_node, ++of_hosts[status->host]);
  }
  for (auto& peak : memory.peaks)
    if (peak == 0) peak = memory.max_peak;
  return memory;
}

void require_cpus(const config::RunSpec& spec, int cpus) {
  const int min = spec.scaling.min_workers;
  if (cpus >= min) return;
  throw UsageError(
      fmt::format("{}scaling.min_workers = {}, but the ranks have {}; with scaling.on_resize = same_bits, this key is the "
                  "minimum number "
                  "of CPUs. Start the run on at least {} CPUs, or reduce scaling.min_workers",
                  config::origin_prefix(spec.given, "scaling.min_workers"), min, counted(cpus, "CPU"), min));
}

}  // namespace

RecordedMemory recorded_memory(const std::string& run_dir) {
  const auto newest = newest_attempt(run_dir);
  const int attempt = newest ? rundir::attempt_with_memory(run_dir, *newest) : 0;
  return attempt > 0 ? memory_of(attempt, io::retried([&] { return rundir::read_rank_statuses(run_dir, attempt); }))
                     : RecordedMemory();
}

std::vector<std::string> bit_differences(const rundir::AttemptRecord& last, const RankResources& resources) {
  const auto ranks = static_cast<int>(resources.ranks.size());
  if (last.ranks != ranks) return {fmt::format("the number of ranks was {} and is {}", last.ranks, ranks)};
  return rundir::differences(last.bits, bit_facts_of(resources));
}

void require_memory_of_nodes(const RecordedMemory& used, const RankResources& resources,
                             const std::vector<std::string>& hosts) {
  struct OfNode {
    std::size_t first = 0;
    int ranks = 0;
    std::uint64_t needed = 0;
  };
  std::map<int, OfNode> nodes;
  for (std::size_t rank = 0; rank < resources.ranks.size(); ++rank) {
    auto& node = nodes.try_emplace(resources.ranks[rank].node, OfNode{.first = rank}).first->second;
    ++node.ranks;
    node.needed += static_cast<std::uint64_t>(rank < used.peaks.size() ? used.peaks[rank] : used.max_peak);
  }
  for (const auto& [number, node] : nodes) {
    const auto memory = resources.ranks[node.first].memory;
    if (node.ranks <= used.max_per_node || node.needed <= memory) continue;
    throw UsageError(
        fmt::format("{} on {} need {} of memory (in attempt {}, a rank used up to {}), but the node has {}: start the run "
                    "on more nodes, request more memory (--mem), or set scaling.on_resize = refuse to omit this check",
                    counted(node.ranks, "rank"), hosts.at(node.first), gibibytes(node.needed), used.attempt,
                    gibibytes(static_cast<std::uint64_t>(used.max_peak)), gibibytes(memory)));
  }
}

void require_fit(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts) try {
  require_cpus(spec, resources.cpus());
  require_memory_of_nodes(recorded_memory(spec.run_dir), resources, hosts);
} catch (const UsageError& error) {
  if (spec.scaling.enforces_same_bits()) throw;
  log::warning(error.what());
}

void check_same_bits(const config::RunSpec& spec, const RankResources& resources, const std::vector<std::string>& hosts) {
  const auto& scaling = spec.scaling;
  if (scaling.has_fixed_workers()) {
    require_fit(spec, resources, hosts);
  }
  if (scaling.requires_fixed_workers()) {
    log::info("same bits: " +
              sharing_in_words(static_cast<int>(resources.ranks.size()), resources.cpus(), resources.nodes()));
  }
  const auto last = newest_attempt(spec.run_dir);
  if (!last || last->bits.empty()) return;
  const auto changed = bit_differences(*last, resources);
  if (changed.empty()) return;
  const auto text = fmt::format("bits may differ from those of attempt {}: {}", last->number, fmt::join(changed, "; "));
  if (scaling.require_same_bits)
    throw UsageError(text + ". Restore the earlier conditions, or set scaling.require_same_bits = false to continue");
  if (last->ranks == static_cast<int>(resources.ranks.size())) log::warning(text);
}

}  // namespace trainrt::trainer
