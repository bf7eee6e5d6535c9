// How many cores every rank may use, and whether the ranks of a node have to share them.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include <fmt/format.h>
#include <sched.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

/// The numbers of the cores that this process may run on.
std::vector<int> own_cores() {
  std::array<cpu_set_t, 8> sets{};  // 8192 cores: the kernel refuses less than it has
  if (sched_getaffinity(0, sizeof sets, sets.data()) != 0)
    throw Error(fmt::format("cannot read the CPU affinity: {}", std::strerror(errno)));
  std::vector<int> cores;
  for (int core = 0; core < static_cast<int>(8 * sizeof sets); ++core)
    if (CPU_ISSET_S(static_cast<std::size_t>(core), sizeof sets, sets.data())) cores.push_back(core);
  return cores;
}

struct NodeUse {
  int ranks = 0;
  std::size_t named = 0;  ///< cores of all its ranks, one counted as often as a rank has it
  std::set<int> cores;
};

constexpr const char* threads_advice = "set OMP_NUM_THREADS to the cores of a rank, or give ranks more (--cpus-per-task)";
constexpr const char* share_advice =
    "start fewer ranks a node, or ask for more cores: --cpus-per-task in sbatch and in srun too (mpiexec: -bind-to core)";

Finding examine_cores(const Examination& examination) {
  const auto answers = examination.ask([] { return Json(own_cores()); });
  if (!answers.well()) return error(examination.describe(answers.troubles), "look at the limits of the job's cgroup");
  std::vector<NodeUse> nodes(static_cast<std::size_t>(examination.world().node_count));
  std::size_t least = SIZE_MAX;
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto cores = answers.of_rank[rank].get<std::vector<int>>();
    least = std::min(least, cores.size());
    most = std::max(most, cores.size());
    auto& node = nodes[static_cast<std::size_t>(examination.world().node_of_rank[rank])];
    ++node.ranks;
    node.named += cores.size();
    node.cores.insert(cores.begin(), cores.end());
  }
  const Json figures = {{"least_cores_a_rank", least}, {"most_cores_a_rank", most}};
  const auto number = least == most ? fmt::format("{}", most) : fmt::format("{} to {}", least, most);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i].cores.size() < static_cast<std::size_t>(nodes[i].ranks))
      return warning(fmt::format("oversubscribed: {} ranks share {} core{} on {}", nodes[i].ranks, nodes[i].cores.size(),
                                 nodes[i].cores.size() == 1 ? "" : "s", examination.host_of_node(i)),
                     share_advice, figures);
  const auto threads = examination.environment().number("OMP_NUM_THREADS").value_or(0);
  if (threads > 0 && static_cast<std::size_t>(threads) > least)
    return warning(fmt::format("oversubscribed: OMP_NUM_THREADS is {}, and a rank has {} core{}", threads, number,
                               most == 1 ? "" : "s"),
                   threads_advice, figures);
  const bool shared = std::ranges::any_of(nodes, [](const auto& node) { return node.named > node.cores.size(); });
  return ok(fmt::format("{} core{} a rank{}", number, most == 1 ? "" : "s",
                        shared ? ", which ranks of a node share (they are not bound)" : ""),
            figures);
}

}  // namespace

extern const Check cores;
const Check cores{.name = "cores", .help = "CPU cores a rank; oversubscription", .place = 80, .run = examine_cores};

}  // namespace trainrt::cli::doctor::plugins
