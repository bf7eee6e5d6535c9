#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <sys/resource.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "comm/mpi/mpi_transports.hpp"
#include "comm/node/shared_segment.hpp"
#include "core/text/text.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"
#include "io/files/file_system.hpp"
#include "program/environments/cpus.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// The cores that the ranks of a node may use.
struct NodeCores {
  std::size_t ranks = 0;
  std::size_t assigned = 0;  ///< sum over the ranks: a core counts once for each rank that may use it
  std::set<std::size_t> cores;
};

Finding check_cores(const DoctorRanks& ranks) {
  const auto answers = ranks.ask([] {
    const auto cpus = program::affinity_of_this_thread();
    if (cpus.empty()) throw Error("cannot read the CPU affinity (sched_getaffinity failed)");
    return Json(cpus);
  });
  std::vector<NodeCores> nodes(static_cast<std::size_t>(ranks.world().node_count));
  std::vector<std::ptrdiff_t> counts;
  for (std::size_t rank = 0; rank < answers.values.size(); ++rank) {
    const auto cpus = answers.values[rank].get<std::string>();
    counts.push_back(std::ranges::count(cpus, '1'));
    auto& node = nodes[static_cast<std::size_t>(ranks.world().node_of_rank[rank])];
    ++node.ranks;
    node.assigned += static_cast<std::size_t>(counts.back());
    for (std::size_t core = 0; core < cpus.size(); ++core)
      if (cpus[core] == '1') node.cores.insert(core);
  }
  const auto [min, max] = std::ranges::minmax(counts);
  const Json figures = {{"least_cores_a_rank", min}, {"most_cores_a_rank", max}};
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].cores.size() < nodes[i].ranks)
      return warning(fmt::format("oversubscribed: {} ranks share {} on {}", nodes[i].ranks,
                                 counted(std::ssize(nodes[i].cores), "core"), ranks.host_of_node(i)),
                     "start fewer ranks per node, or request more cores: --cpus-per-task in sbatch and also in srun "
                     "(mpiexec: -bind-to core)",
                     figures);
  const auto threads = ranks.environment().number("OMP_NUM_THREADS").value_or(0);
  if (threads > min)
    return warning(
        fmt::format("oversubscribed: OMP_NUM_THREADS is {}, but a rank has {}", threads, range_text(min, max, "core")),
        "set OMP_NUM_THREADS to the number of cores per rank, or request more cores (--cpus-per-task)", figures);
  const bool shared = std::ranges::any_of(nodes, [](const auto& node) { return node.assigned > node.cores.size(); });
  return ok(fmt::format("{} per rank{}", range_text(min, max, "core"),
                        shared ? ", shared by the ranks of a node (they are not bound to cores)" : ""),
            figures);
}

/// Assigns the GPUs of a node to its ranks, as a run would. Throws UsageError if the config does not allow it.
std::vector<device::Binding> bind_node(const DoctorRanks& ranks, const Answers& answers, int node) {
  std::vector<device::GpuUuids> visible;
  std::string no_gpu_reason;
  for (std::size_t rank = 0; rank < answers.values.size(); ++rank) {
    if (ranks.world().node_of_rank[rank] != node) continue;
    visible.push_back(answers.values[rank].at("uuids").get<device::GpuUuids>());
    if (visible.back().empty()) no_gpu_reason = answers.values[rank].at("why_none");
  }
  return device::bind_gpus(visible, device::gpu_request_from(ranks.subject().gpus_per_worker), no_gpu_reason);
}

Finding check_gpus(const DoctorRanks& ranks) {
  const auto answers = ranks.ask([] {
    auto& runtime = device::runtime();
    Json uuids = Json::array();
    for (int gpu = 0; gpu < runtime.count(); ++gpu) uuids.push_back(runtime.describe(gpu).uuid);
    return Json{{"uuids", uuids}, {"why_none", runtime.no_gpu_reason()}};
  });
  std::vector<std::size_t> counts;
  bool shared = false;
  int node = 0;
  try {
    for (; node < ranks.world().node_count; ++node) {
      std::set<std::string> taken;
      for (const auto& binding : bind_node(ranks, answers, node)) {
        counts.push_back(binding.gpus.size());
        for (const auto& uuid : binding.uuids) shared = !taken.insert(uuid).second || shared;
      }
    }
  } catch (const UsageError& failure) {
    return error(ranks.host_of_node(static_cast<std::size_t>(node)) + ": " + trainer::with_advice(failure),
                 "a run with this config cannot start here");
  }
  const auto min = std::ranges::min(counts), max = std::ranges::max(counts);
  const auto number = range_text(static_cast<std::int64_t>(min), static_cast<std::int64_t>(max), "GPU");
  const Json figures = {{"least_gpus_a_rank", min}, {"most_gpus_a_rank", max}, {"shared", shared}};
  if (max == 0) return ok("no GPUs: the ranks compute on the CPU", figures);
  if (min == 0)
    return error(number + " per rank: some ranks have no GPU",
                 "request GPUs for all ranks (srun --gpus-per-node or --gpus-per-task)", figures);
  return warning_if(shared ? "ranks share a GPU: a node has fewer GPUs than ranks" : "",
                    "start as many ranks per node as it has GPUs", number + " per rank", figures);
}

/// Only network cards with remote direct memory access (RDMA) need locked memory.
Finding check_memory_lock(const DoctorRanks& ranks) {
  constexpr std::uint64_t unlimited = RLIM_INFINITY;
  const auto answers = ranks.ask([] {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
      throw Error(fmt::format("cannot read the limit of locked memory: {}", std::strerror(errno)));
    return Json{{"limit", std::uint64_t{limit.rlim_cur}}, {"rdma", has_rdma_device()}};
  });
  const auto problems = ranks.problems_in(answers, [](const Json& answer) {
    const auto limit = answer.at("limit").get<std::uint64_t>();
    return limit == unlimited || !answer.at("rdma").get<bool>() ? "" : fmt::format("at most {} MiB", limit >> 20);
  });
  const auto min = std::ranges::min(numbers_in<std::uint64_t>(answers, "limit"));
  return warning_if(problems.empty() ? "" : "the network card needs locked memory, which is limited: " + problems,
                    "MPI and NCCL may fall back to TCP or fail: set `ulimit -l unlimited`, or LimitMEMLOCK=infinity for "
                    "slurmd",
                    min == unlimited ? "no limit" : fmt::format("{} MiB per rank; no RDMA card needs more", min >> 20),
                    {{"least_bytes", min == unlimited ? Json("unlimited") : Json(min)}});
}

Json probe_dev_shm(const DoctorRanks& ranks) {
  constexpr std::uint64_t enough = std::uint64_t{256} << 20;  // the default in a container is 64 MiB
  const auto free_bytes = io::file_system_of("/dev/shm").free_bytes;
  const auto facts = comm::ucx_facts(ranks.world(), ranks.environment());
  auto problem = facts.shm_problem;
  if (!problem.empty() && !facts.sysv_problem.empty()) problem += "; " + facts.sysv_problem;
  if (problem.empty() && free_bytes < enough) problem = fmt::format("/dev/shm has {} MiB free", free_bytes >> 20);
  return {{"free_bytes", free_bytes}, {"problem", problem}};
}

Finding check_shared_memory(const DoctorRanks& ranks) {
  std::string failure;
  comm::share_segment(comm::SegmentRanks::of(ranks.communicator(), ranks.world().node_of_rank), 1, failure);
  if (!failure.empty()) throw ProbeFailed(failure);
  const auto answers = ranks.ask_nodes([&] { return probe_dev_shm(ranks); });
  const auto problems =
      ranks.problems_in(answers, [](const Json& answer) { return answer.at("problem").get<std::string>(); });
  const auto min = std::ranges::min(numbers_in<std::uint64_t>(answers, "free_bytes"));
  return warning_if(problems,
                    "remove files in /dev/shm, or start the container with a larger --shm-size: NCCL fails if /dev/shm is "
                    "full, and MPI must use System V shared memory",
                    fmt::format("the ranks of a node can share memory; /dev/shm has {:.1f} GiB free",
                                static_cast<double>(min) / (1 << 30)),
                    {{"least_free_bytes_in_dev_shm", min}});
}

constexpr const char* sharing_advice =
    "start all ranks of a node in one container, as one user, with /dev/shm, and without hidepid on /proc; until then they "
    "communicate by MPI, which is slower";
constexpr std::array<Check, 4> resource_checks = {{
    {"cores", "the CPU cores per rank", check_cores, "run `taskset -p $$` there"},
    {"gpus", "the GPUs per rank", check_gpus, "see `cuda`"},
    {"memory_lock", "the limit of locked memory", check_memory_lock, "check `ulimit -l` there"},
    {"shared_memory", "the memory that ranks of a node share", check_shared_memory, sharing_advice, Grade::warning},
}};

}  // namespace

extern const CheckGroup resources;
const CheckGroup resources{
    .name = "resources", .help = "cores, GPUs and memory of the ranks", .order = 30, .checks = resource_checks};

}  // namespace trainrt::cli::doctor::plugins
