// How much memory a rank may lock: remote direct memory access needs it, and only it does.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/resource.h>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"

namespace trainrt::cli::doctor::plugins {

namespace {

constexpr std::uint64_t unlimited = ~std::uint64_t{0};

std::uint64_t limit() {
  rlimit found{};
  if (getrlimit(RLIMIT_MEMLOCK, &found) != 0)
    throw Error(fmt::format("cannot read the limit of locked memory: {}", std::strerror(errno)));
  return found.rlim_cur == RLIM_INFINITY ? unlimited : found.rlim_cur;
}

Finding examine_memory_lock(const Examination& examination) {
  const auto answers = examination.ask([] { return Json{{"limit", limit()}, {"fabric", has_fabric()}}; });
  if (!answers.well()) return error(examination.describe(answers.troubles), "look at `ulimit -l` there");
  std::uint64_t least = unlimited;
  std::vector<Trouble> limited;
  for (std::size_t rank = 0; rank < answers.of_rank.size(); ++rank) {
    const auto mine = answers.of_rank[rank].at("limit").get<std::uint64_t>();
    least = std::min(least, mine);
    if (mine != unlimited && answers.of_rank[rank].at("fabric").get<bool>())
      limited.push_back({static_cast<int>(rank), fmt::format("{} MiB may be locked", mine >> 20)});
  }
  const Json figures = {{"least_bytes", least == unlimited ? Json("unlimited") : Json(least)}};
  if (!limited.empty())
    return warning(fmt::format("there is an RDMA card, and {}", examination.describe(limited)),
                   "MPI and NCCL may fall back to TCP or fail: `ulimit -l unlimited`, or LimitMEMLOCK=infinity for slurmd",
                   figures);
  if (least == unlimited) return ok("no limit", figures);
  return ok(fmt::format("{} MiB a rank; no RDMA device is here that needs more", least >> 20), figures);
}

}  // namespace

extern const Check memory_lock;
const Check memory_lock{.name = "memory_lock",
                        .help = "the limit of locked memory, where the network needs it",
                        .place = 100,
                        .run = examine_memory_lock};

}  // namespace trainrt::cli::doctor::plugins
