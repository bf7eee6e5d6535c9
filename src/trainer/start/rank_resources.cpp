#include "trainer/start/rank_resources.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <sstream>

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
#include "device/runtime.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::trainer {

namespace {

constexpr const char* threads_variable = "OMP_NUM_THREADS";

/// Environment variables by which libraries choose their number of threads, their code, or the order of their sums.
constexpr std::array bit_variables = {"ATEN_CPU_CAPABILITY",
                                      "BLIS_ARCH_TYPE",
                                      "BLIS_NUM_THREADS",
                                      "CUBLAS_WORKSPACE_CONFIG",
                                      "DNNL_MAX_CPU_ISA",
                                      "FLEXIBLAS",
                                      "GLIBC_TUNABLES",
                                      "GOTO_NUM_THREADS",
                                      "JAX_DEFAULT_MATMUL_PRECISION",
                                      "JAX_ENABLE_X64",
                                      "KMP_DETERMINISTIC_REDUCTION",
                                      "MKL_CBWR",
                                      "MKL_DYNAMIC",
                                      "MKL_ENABLE_INSTRUCTIONS",
                                      "MKL_NUM_THREADS",
                                      "MKL_THREADING_LAYER",
                                      "NCCL_ALGO",
                                      "NCCL_MAX_NCHANNELS",
                                      "NCCL_MIN_NCHANNELS",
                                      "NCCL_NVLS_ENABLE",
                                      "NCCL_PROTO",
                                      "NPY_DISABLE_CPU_FEATURES",
                                      "NVIDIA_TF32_OVERRIDE",
                                      "OMP_DYNAMIC",
                                      "OMP_THREAD_LIMIT",
                                      "ONEDNN_DEFAULT_FPMATH_MODE",
                                      "ONEDNN_MAX_CPU_ISA",
                                      "OPENBLAS_CORETYPE",
                                      "OPENBLAS_NUM_THREADS",
                                      "TF_CUDNN_DETERMINISTIC",
                                      "TF_DETERMINISTIC_OPS",
                                      "TF_ENABLE_ONEDNN_OPTS",
                                      "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
                                      "XLA_FLAGS"};

/// Returns `value`, the value of XLA_FLAGS, without the options that make XLA write files. These options do not change
/// results.
std::string without_dumps(const std::string& value) {
  if (value.find("--xla_dump") == std::string::npos) return value;
  std::istringstream words(value);
  std::vector<std::string> kept;
  for (std::string word; words >> word;)
    if (!word.starts_with("--xla_dump")) kept.push_back(word);
  return fmt::format("{}", fmt::join(kept, " "));
}

std::map<std::string, std::string> bit_variables_of_process() {
  const auto environment = Environment::of_process();
  std::map<std::string, std::string> values;
  for (const auto* name : bit_variables)
    if (const auto value = environment.text(name)) values[name] = without_dumps(*value);
  return values;
}

/// Returns the distinct kinds of the rank's GPUs; "none" if it has no GPU.
std::string kinds_of_gpus(const World& world) {
  std::set<std::string> kinds;
  for (const int gpu : world.gpus) kinds.insert(device::runtime().describe(gpu).name);
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, ", "));
}

/// Returns the text of each rank for each variable that any rank has.
std::map<std::string, rundir::RankTexts> variables_of(const std::vector<RankResources::OfRank>& ranks) {
  std::map<std::string, rundir::RankTexts> variables;
  for (const auto* name : bit_variables) {
    std::vector<std::string> texts;
    for (const auto& rank : ranks) {
      const auto found = rank.variables.find(name);
      texts.push_back(found == rank.variables.end() ? "" : found->second);
    }
    if (std::ranges::any_of(texts, [](const auto& text) { return !text.empty(); }))
      variables[name] = rundir::RankTexts(texts);
  }
  return variables;
}

/// Returns the number at the beginning of `text`; 0 if `text` does not begin with a positive number.
int leading_number(const std::string& text) {
  const auto number = parse_integer(text.substr(0, text.find_first_of(", ")));
  return static_cast<int>(std::clamp<std::int64_t>(number.value_or(0), 0, std::numeric_limits<int>::max()));
}

/// Returns the value of OMP_NUM_THREADS, or the first number if the value is a list; 0 if it is not set or invalid.
int threads_of_environment() { return leading_number(Environment::of_process().text(threads_variable).value_or("")); }

int cpus_in(const std::string& affinity) { return static_cast<int>(std::ranges::count(affinity, '1')); }

/// Returns the number of threads of each rank in the newest attempt. Returns an empty result if this attempt did not
/// have `ranks` ranks, or has not recorded the numbers.
rundir::RankTexts recorded_threads(const std::string& run_dir, int ranks) {
  const auto attempts = io::retried([&] { return rundir::read_attempts(run_dir, 1); });
  return attempts.empty() || attempts.back().ranks != ranks ? rundir::RankTexts() : attempts.back().bits.threads;
}

/// Restricts this thread to its block of CPUs if the ranks of its node share fewer CPUs than there are ranks. The block
/// has `threads` CPUs, because libraries may start fewer threads on fewer CPUs.
void bind_to_block(const RankResources& resources, int rank, int threads) {
  const auto& mine = resources.ranks[static_cast<std::size_t>(rank)];
  const auto shares_with = [&](const RankResources::OfRank& other) {
    return other.node == mine.node && other.affinity == mine.affinity;
  };
  const auto before = std::span(resources.ranks).first(static_cast<std::size_t>(rank));
  const auto index = static_cast<int>(std::ranges::count_if(before, shares_with));
  const auto block = block_of_cpus(mine.affinity, index, resources.share_of(rank).ranks, threads);
  if (block != mine.affinity && !set_affinity_of_this_thread(block))
    log::warning("cannot bind this rank to its share of the CPUs: " + std::string(std::strerror(errno)));
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
  const nlohmann::json mine = {{"affinity", affinity_of_this_thread()}, {"cpu", kind_of_cpu()},
                               {"threads", threads_of_environment()},   {"memory", memory_limit()},
                               {"gpus", kinds_of_gpus(world)},          {"variables", bit_variables_of_process()}};
  RankResources resources;
  std::map<int, std::vector<std::string>> of_nodes;
  for (const auto& text : communicator.all_gather(mine.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))) {
    const auto json = nlohmann::json::parse(text);
    const int node = world.node_of_rank.empty() ? 0 : world.node_of_rank[resources.ranks.size()];
    resources.ranks.push_back(
        {node, json["affinity"], json["cpu"], json["threads"], json["memory"], json["gpus"], json["variables"]});
    of_nodes[node].push_back(resources.ranks.back().affinity);
  }
  for (auto& rank : resources.ranks)
    if (rank.threads == 0) rank.threads = cpus_each(rank.affinity, of_nodes.at(rank.node));
  return resources;
}

rundir::BitFacts bit_facts_of(const RankResources& resources) {
  std::vector<std::string> threads, cpus, gpus;
  for (const auto& rank : resources.ranks) {
    const int available = std::max(cpus_in(rank.affinity), 1);
    threads.push_back(rank.threads <= available ? std::to_string(rank.threads)
                                                : fmt::format("{} on {}", rank.threads, counted(available, "CPU")));
    cpus.push_back(rank.cpu);
    gpus.push_back(rank.gpus);
  }
  return {.threads = rundir::RankTexts(threads),
          .cpus = rundir::RankTexts(cpus),
          .versions = {{"C library", gnu_get_libc_version()}},
          .gpus = rundir::RankTexts(gpus),
          .variables = variables_of(resources.ranks)};
}

std::string sharing_in_words(int workers, int cpus, int nodes) {
  return fmt::format("{} on {} of {} ({:.3g} {} per CPU)", counted(workers, "worker"), counted(cpus, "CPU"),
                     counted(nodes, "node"), static_cast<double>(workers) / std::max(cpus, 1),
                     workers == cpus ? "worker" : "workers");
}

CpuShare RankResources::share_of(int rank) const {
  const auto& mine = ranks[static_cast<std::size_t>(rank)];
  std::vector<std::string> of_node;
  for (const auto& other : ranks)
    if (other.node == mine.node) of_node.push_back(other.affinity);
  return cpu_share(mine.affinity, of_node);
}

void fix_threads(const config::RunSpec& spec, const std::string& run_dir, const World& world, Communicator& communicator) {
  if (!spec.scaling.has_fixed_workers()) return;
  io::set_storage_timeout(spec.failure.storage_timeout_s);
  const auto resources = gather_resources(world, communicator);
  std::string text;
  RankZero(world.rank).run([&] { text = recorded_threads(run_dir, world.size).to_json().dump(); });
  const auto recorded = rundir::RankTexts::from_json(nlohmann::ordered_json::parse(communicator.broadcast_text(text, 0)));
  const int given = threads_of_environment();
  const int number = leading_number(recorded.of(world.rank));
  int threads = resources.ranks[static_cast<std::size_t>(world.rank)].threads;
  if (const bool keeps_given = given > 0 && !spec.scaling.enforces_same_bits(); !keeps_given) {
    if (number > 0 && given > 0 && number != given)
      RankZero(world.rank).run([&] {
        log::info(fmt::format(
            "{} = {} is replaced by {}, the number of threads in earlier attempts (scaling.on_resize = same_bits)",
            threads_variable, given, number));
      });
    if (number > 0) threads = number;
    setenv(threads_variable, std::to_string(threads).c_str(), 1);
  }
  bind_to_block(resources, world.rank, threads);
}

}  // namespace trainrt::trainer
