#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include <sys/resource.h>

#include "cli/doctor/doctor_check.hpp"
#include "comm/mpi/mpi_transports.hpp"
#include "comm/node/shared_segment.hpp"
#include "core/process/cpus.hpp"
#include "device/binding.hpp"
#include "device/runtime.hpp"
#include "io/files/file_system.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// Returns "4 ranks share 2 cores" if there are more ranks than cores: on the node, or among ranks that are bound to
/// the same cores. Otherwise returns "". `cpus` are the affinities of the ranks.
std::string crowding_of(const std::vector<std::string>& cpus) {
  const auto text_if = [](std::ptrdiff_t sharers, std::ptrdiff_t cores) {
    return sharers > cores ? fmt::format("{} ranks share {}", sharers, counted(cores, "core")) : "";
  };
  for (const auto& mine : cpus)
    if (const auto text = text_if(std::ranges::count(cpus, mine), std::ranges::count(mine, '1')); !text.empty())
      return text;
  return text_if(std::ssize(cpus), cpus_together(cpus));
}

Finding check_cores(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    const auto cpus = affinity_of_this_thread();
    if (cpus.empty()) throw Error("cannot read the CPU affinity (sched_getaffinity failed)");
    return Json{{"cpus", cpus}, {"count", std::ranges::count(cpus, '1')}};
  });
  const auto counts = answers.all<std::int64_t>("count");
  const auto [min, max] = std::ranges::minmax(counts);
  const auto per_rank = range_text(counts, "core");
  figures = {{"least_cores_a_rank", min}, {"most_cores_a_rank", max}};
  bool shared = false;
  std::vector<std::string> crowded;
  const auto nodes = ranks.by_node(answers.all<std::string>("cpus"));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto crowding = crowding_of(nodes[i]);
    if (!crowding.empty()) crowded.push_back(fmt::format("{} on {}", crowding, ranks.host_of_node(i)));
    std::ptrdiff_t assigned = 0;  // a core counts once for each rank that may use it
    for (const auto& cpus : nodes[i]) assigned += std::ranges::count(cpus, '1');
    shared = shared || assigned > cpus_together(nodes[i]);
  }
  if (!crowded.empty())
    return warning("oversubscribed: " + join(crowded),
                   "start fewer ranks per node, or request more cores: --cpus-per-task in sbatch and also in srun "
                   "(mpiexec: -bind-to core)");
  if (const auto threads = ranks.environment().number("OMP_NUM_THREADS").value_or(0); threads > min)
    return warning(fmt::format("oversubscribed: OMP_NUM_THREADS is {}, but a rank has {}", threads, per_rank),
                   "set OMP_NUM_THREADS to the number of cores per rank, or request more cores (--cpus-per-task)");
  return ok(per_rank + " per rank" + (shared ? ", shared by the ranks of a node (they are not bound to cores)" : ""));
}

/// Assigns the GPUs of a node to its ranks, as a run would. Throws UsageError if the config does not allow it.
std::vector<device::Binding> bind_node(const std::vector<Json>& answers, const std::string& gpus_per_worker) {
  std::vector<device::GpuUuids> visible;
  std::string no_gpu_reason;
  for (const auto& answer : answers) {
    visible.push_back(answer.at("uuids").get<device::GpuUuids>());
    if (visible.back().empty()) no_gpu_reason = answer.at("why_none");
  }
  return device::bind_gpus(visible, device::gpu_request_from(gpus_per_worker), no_gpu_reason);
}

Finding check_gpus(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    auto& runtime = device::runtime();
    Json uuids = Json::array();
    for (int gpu = 0; gpu < runtime.count(); ++gpu) uuids.push_back(runtime.describe(gpu).uuid);
    return Json{{"uuids", uuids}, {"why_none", runtime.no_gpu_reason()}};
  });
  std::vector<std::size_t> counts;
  bool shared = false;
  const auto nodes = ranks.by_node(answers.values);
  for (std::size_t i = 0; i < nodes.size(); ++i) try {
      std::set<std::string> taken;
      for (const auto& binding : bind_node(nodes[i], ranks.subject().gpus_per_worker)) {
        counts.push_back(binding.gpus.size());
        for (const auto& uuid : binding.uuids) shared = !taken.insert(uuid).second || shared;
      }
    } catch (const UsageError& failure) {
      return error(ranks.host_of_node(i) + ": " + trainer::with_advice(failure),
                   "a run with this config cannot start here");
    }
  const auto [min, max] = std::ranges::minmax(counts);
  const auto number = range_text(counts, "GPU") + " per rank";
  figures = {{"least_gpus_a_rank", min}, {"most_gpus_a_rank", max}, {"shared", shared}};
  if (max == 0) return ok("no GPUs: the ranks compute on the CPU");
  if (min == 0) return error(number + ": some ranks have no GPU", gpus_for_all_advice);
  return warning_if(shared ? "ranks share a GPU: a node has fewer GPUs than ranks" : "",
                    "start as many ranks per node as it has GPUs", number);
}

/// Only network cards with remote direct memory access (RDMA) need locked memory.
Finding check_memory_lock(const DoctorRanks& ranks, Json& figures) {
  const auto answers = ranks.ask([] {
    rlimit limit{};
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0)
      throw Error(fmt::format("cannot read the limit of locked memory: {}", std::strerror(errno)));
    return Json{{"limit", std::uint64_t{limit.rlim_cur}}, {"rdma", has_rdma_device()}};
  });
  const auto problems = ranks.problems_in(answers, [](const Json& answer) {
    const auto limit = answer.at("limit").get<std::uint64_t>();
    return limit == RLIM_INFINITY || !answer.at("rdma").get<bool>() ? "" : fmt::format("at most {} MiB", limit >> 20);
  });
  const auto min = std::ranges::min(answers.all<std::uint64_t>("limit"));
  figures["least_bytes"] = min == RLIM_INFINITY ? Json("unlimited") : Json(min);
  return warning_if(problems.empty() ? "" : "the network card needs locked memory, which is limited: " + problems,
                    "MPI and NCCL may fall back to TCP or fail: set `ulimit -l unlimited`, or LimitMEMLOCK=infinity for "
                    "slurmd",
                    min == RLIM_INFINITY ? "no limit" : fmt::format("{} MiB per rank; no RDMA card needs more", min >> 20));
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

Finding check_shared_memory(const DoctorRanks& ranks, Json& figures) {
  std::string failure;
  comm::share_segment(comm::SegmentRanks::of(ranks.communicator(), ranks.world().node_of_rank), 1, failure);
  if (!failure.empty()) throw ProbeFailed(failure);
  const auto answers = ranks.ask_nodes([&] { return probe_dev_shm(ranks); });
  const auto min = std::ranges::min(answers.all<std::uint64_t>("free_bytes"));
  figures["least_free_bytes_in_dev_shm"] = min;
  return warning_if(ranks.problems_in(answers, "problem"),
                    "remove files in /dev/shm, or start the container with a larger --shm-size: NCCL fails if /dev/shm is "
                    "full, and MPI must use System V shared memory",
                    fmt::format("the ranks of a node can share memory; /dev/shm has {:.1f} GiB free",
                                static_cast<double>(min) / (1 << 30)));
}

constexpr const char* sharing_advice =
    "start all ranks of a node in one container, as one user, with /dev/shm, and without hidepid on /proc; until then, the "
    "ranks communicate by MPI, which is slower";
constexpr std::array<Check, 4> resource_checks = {{
    {"cores", "the CPU cores per rank", check_cores, "run `taskset -p $$` on that node"},
    {"gpus", "the GPUs per rank", check_gpus, "see `cuda`"},
    {"memory_lock", "the limit of locked memory", check_memory_lock, "check `ulimit -l` on that node"},
    {"shared_memory", "the memory that ranks of a node share", check_shared_memory, sharing_advice, Grade::warning},
}};

}  // namespace

extern const CheckGroup resources;
const CheckGroup resources{
    .name = "resources", .help = "cores, GPUs and memory of the ranks", .order = 30, .checks = resource_checks};

}  // namespace trainrt::cli::doctor::plugins
