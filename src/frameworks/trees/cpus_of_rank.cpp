#include "frameworks/trees/cpus_of_rank.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <sched.h>

namespace trainrt::frameworks::trees {

namespace {

constexpr std::ptrdiff_t max_threads = 65536;

/// Returns "1" for each CPU on which this thread may run, and "0" for each other CPU.
std::string cpus_of_this_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::string cpus;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) cpus += CPU_ISSET(cpu, &set) ? '1' : '0';
  return cpus;
}

}  // namespace

int cpus_of_rank(Context& ctx) {
  const auto cpus = cpus_of_this_thread();
  const auto mine = fmt::format("{} {}", ctx.node_rank(), cpus);
  const auto all = ctx.communicator().all_gather(mine);
  const auto computed = std::ranges::count(cpus, '1') / std::max<std::ptrdiff_t>(std::ranges::count(all, mine), 1);
  const char* const set = std::getenv("OMP_NUM_THREADS");
  const std::ptrdiff_t threads = set == nullptr ? 0 : std::strtol(set, nullptr, 10);
  const auto share = threads > 0 && threads < max_threads ? threads : computed;
  return ctx.communicator().all_reduced(static_cast<std::int32_t>(std::max<std::ptrdiff_t>(share, 1)), Op::min);
}

}  // namespace trainrt::frameworks::trees
