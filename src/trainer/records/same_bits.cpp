#include "trainer/records/same_bits.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "comm/agreement.hpp"
#include "config/value_origin.hpp"
#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "core/text/text.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/recorded_memory.hpp"
#include "rundir/records/rank_status.hpp"
#include "trainer/records/loaded_libraries.hpp"

namespace trainrt::trainer {

namespace {

std::optional<rundir::AttemptRecord> newest_attempt(const std::string& run_dir) {
  auto attempts = io::retried([&] { return rundir::read_attempts(run_dir, 1); });
  if (attempts.empty()) return std::nullopt;
  return std::move(attempts.back());
}

/// Returns the facts in `text`, a JSON object of a checkpoint. Returns nullopt if `text` is empty, or is invalid
/// because another version of trainrt wrote it.
std::optional<rundir::BitFacts> facts_in(const std::string& text) try {
  if (text.empty()) return std::nullopt;
  return rundir::bit_facts_from(nlohmann::ordered_json::parse(text));
} catch (const std::exception&) {
  return std::nullopt;
}

/// Returns the facts that determine the bits of the results (BitFacts): those that the newest checkpoint recorded, or else
/// those of the newest attempt. Returns nullopt if neither has recorded such facts.
std::optional<EarlierBits> earlier_bits(const std::string& run_dir) {
  const auto newest = io::retried([&] { return checkpoint::newest(run_dir); });
  if (newest)
    if (auto bits = facts_in(newest->bits))
      return EarlierBits{checkpoint::directory_name(newest->number), newest->ranks, std::move(*bits)};
  const auto last = newest_attempt(run_dir);
  if (!last || last->bits.empty()) return std::nullopt;
  return EarlierBits{fmt::format("attempt {}", last->number), last->ranks, last->bits};
}

/// Logs a warning that names the differences to the facts of `from`, or throws UsageError if the config requires the
/// same bits. Does nothing if there are no differences.
void report_differences(const config::RunSpec& spec, const std::string& from, const std::vector<std::string>& changed) {
  if (changed.empty()) return;
  const auto text = fmt::format("the result bits may differ from those of {}: {}", from, fmt::join(changed, "; "));
  if (spec.scaling.require_same_bits)
    throw UsageError(text + ". Restore the earlier conditions, or set scaling.require_same_bits = false to continue");
  log::run_warning(text);
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

std::vector<std::string> bit_differences(const EarlierBits& earlier, const RankResources& resources) {
  const auto ranks = static_cast<int>(resources.ranks.size());
  if (earlier.ranks != ranks) return {fmt::format("the number of ranks was {} and is {}", earlier.ranks, ranks)};
  return rundir::differences(earlier.bits, bit_facts_of(resources));
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
  if (scaling.has_fixed_workers()) require_fit(spec, resources, hosts);
  const auto workers = static_cast<int>(resources.ranks.size());
  if (scaling.requires_fixed_workers() || (scaling.has_fixed_workers() && workers > resources.cpus()))
    log::info(fmt::format("same bits: {}; all attempts have {}",
                          sharing_in_words(workers, resources.cpus(), resources.nodes()), counted(workers, "worker")));
  const auto earlier = earlier_bits(spec.run_dir);
  if (!earlier) return;
  const auto changed = bit_differences(*earlier, resources);
  const bool has_same_ranks = earlier->ranks == workers;
  if (has_same_ranks || scaling.require_same_bits) report_differences(spec, earlier->from, changed);
}

std::map<std::string, rundir::RankTexts> libraries_of_ranks(Communicator& communicator) {
  std::vector<Libraries> of_ranks;
  std::set<std::string> names;
  for (const auto& text : communicator.all_gather(nlohmann::json(loaded_libraries()).dump())) {
    of_ranks.push_back(nlohmann::json::parse(text).get<Libraries>());
    for (const auto& [name, build] : of_ranks.back()) names.insert(name);
  }
  std::map<std::string, rundir::RankTexts> libraries;
  for (const auto& name : names) {
    std::vector<std::string> builds;
    for (const auto& loaded : of_ranks) builds.push_back(loaded.contains(name) ? loaded.at(name) : "");
    libraries[name] = rundir::RankTexts(builds);
  }
  return libraries;
}

void check_libraries(const config::RunSpec& spec, const std::string& bits, const std::string& from,
                     const std::map<std::string, rundir::RankTexts>& libraries) try {
  if (const auto saved = facts_in(bits))
    report_differences(spec, from, rundir::differences(*saved, {.libraries = libraries}));
} catch (const UsageError& error) {
  throw comm::AgreedError(error.what(), error.code());
}

void check_libraries_of_newest(const config::RunSpec& spec, const std::map<std::string, rundir::RankTexts>& libraries,
                               Communicator& communicator) {
  nlohmann::json newest = {"", ""};
  comm::collectively_on_first(communicator, [&] {
    if (const auto found = io::retried([&] { return checkpoint::newest(spec.run_dir); }))
      newest = {found->bits, checkpoint::directory_name(found->number)};
  });
  newest = nlohmann::json::parse(communicator.broadcast_text(newest.dump(), 0));
  check_libraries(spec, newest[0], newest[1], libraries);
}

}  // namespace trainrt::trainer
