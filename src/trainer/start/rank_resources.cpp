#include "trainer/start/rank_resources.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>

#include "core/environment.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/process/cpus.hpp"
#include "core/process/memory.hpp"
#include "core/rank_zero.hpp"
#include "core/text/text.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::trainer {

namespace {

constexpr const char* threads_variable = "OMP_NUM_THREADS";

/// Returns the number at the beginning of `text`; 0 if `text` does not begin with a positive number.
int leading_number(const std::string& text) {
  const auto number = parse_integer(text.substr(0, text.find_first_of(", ")));
  return static_cast<int>(std::clamp<std::int64_t>(number.value_or(0), 0, std::numeric_limits<int>::max()));
}

/// Returns the value of OMP_NUM_THREADS, the first one of a list; 0 if it is not set or invalid.
int threads_of_environment() { return leading_number(Environment::of_process().text(threads_variable).value_or("")); }

int cpus_in(const std::string& affinity) { return static_cast<int>(std::ranges::count(affinity, '1')); }

/// Returns the numbers of threads of the newest attempt, if it had `ranks` ranks and has recorded them; otherwise nothing.
rundir::RankTexts recorded_threads(const std::string& run_dir, int ranks) {
  const auto attempts = io::retried([&] { return rundir::read_attempts(run_dir, 1); });
  return attempts.empty() || attempts.back().ranks != ranks ? rundir::RankTexts() : attempts.back().bits.threads;
}

}  // namespace

int RankResources::nodes() const {
  std::set<int> numbers;
  for (const auto& rank : ranks) numbers.insert(rank.node);
  return static_cast<int>(numbers.size());
}

int RankResources::cpus() const {
  std::map<int, std::vector<std::string>> of_nodes;
  for (const auto& rank : ranks) of_nodes[rank.node].push_back(rank.affinity);
  int cpus = 0;
  for (const auto& [node, affinities] : of_nodes) cpus += std::max(cpus_together(affinities), 1);
  return cpus;
}

RankResources gather_resources(const World& world, Communicator& communicator) {
  const nlohmann::json mine = {{"affinity", affinity_of_this_thread()},
                               {"cpu", kind_of_cpu()},
                               {"threads", threads_of_environment()},
                               {"memory", memory_limit()}};
  RankResources resources;
  std::map<int, std::vector<std::string>> of_nodes;
  for (const auto& text : communicator.all_gather(mine.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
    const auto json = nlohmann::json::parse(text);
    const int node = world.node_of_rank.empty() ? 0 : world.node_of_rank[resources.ranks.size()];
    resources.ranks.push_back({node, json["affinity"], json["cpu"], json["threads"], json["memory"]});
    of_nodes[node].push_back(resources.ranks.back().affinity);
  }
  for (auto& rank : resources.ranks)
    if (rank.threads == 0) rank.threads = cpus_each(rank.affinity, of_nodes.at(rank.node));
  return resources;
}

rundir::BitFacts bit_facts_of(const RankResources& resources) {
  std::vector<std::string> threads, cpus;
  for (const auto& rank : resources.ranks) {
    const int available = std::max(cpus_in(rank.affinity), 1);
    threads.push_back(rank.threads <= available ? std::to_string(rank.threads)
                                                : fmt::format("{} on {}", rank.threads, counted(available, "CPU")));
    cpus.push_back(rank.cpu);
  }
  return {.threads = rundir::RankTexts(threads),
          .cpus = rundir::RankTexts(cpus),
          .versions = {{"C library", gnu_get_libc_version()}}};
}

std::string sharing_in_words(int workers, int cpus, int nodes) {
  return fmt::format("{} on {} of {} ({:.3g} {} per CPU)", counted(workers, "worker"), counted(cpus, "CPU"),
                     counted(nodes, "node"), static_cast<double>(workers) / std::max(cpus, 1),
                     workers == cpus ? "worker" : "workers");
}

void fix_threads(const config::RunSpec& spec, const std::string& run_dir, const World& world, Communicator& communicator) {
  if (!spec.scaling.has_fixed_workers()) return;
  io::set_storage_timeout(spec.failure.storage_timeout_s);
  const auto resources = gather_resources(world, communicator);
  std::string text;
  RankZero(world.rank).run([&] { text = recorded_threads(run_dir, world.size).to_json().dump(); });
  const auto recorded = rundir::RankTexts::from_json(nlohmann::ordered_json::parse(communicator.broadcast_text(text, 0)));
  if (!spec.scaling.enforces_same_bits() && threads_of_environment() > 0) return;  // the user's own value
  const int number = leading_number(recorded.of(world.rank));
  const int threads = resources.ranks[static_cast<std::size_t>(world.rank)].threads;
  if (number > 0 && threads_of_environment() > 0 && number != threads)
    RankZero(world.rank).run([&] {
      log::info(fmt::format(
          "{} = {} is replaced by {}, the number of threads in earlier attempts (scaling.on_resize = same_bits)",
          threads_variable, threads, number));
    });
  setenv(threads_variable, std::to_string(number > 0 ? number : threads).c_str(), 1);
}

}  // namespace trainrt::trainer
