#include "program/environments/cpus.hpp"

#include <algorithm>
#include <cerrno>
#include <vector>

#include <fmt/format.h>
#include <sched.h>

namespace trainrt::program {

std::string affinity_of_this_thread() {
  constexpr std::size_t max_sets = 64;  // enough for 65536 CPUs
  for (std::size_t sets = 1; sets <= max_sets; sets *= 2) {
    std::vector<cpu_set_t> mask(sets);
    const auto bytes = sets * sizeof(cpu_set_t);
    if (sched_getaffinity(0, bytes, mask.data()) == 0) {
      std::string cpus;
      for (std::size_t cpu = 0; cpu < 8 * bytes; ++cpu) cpus += CPU_ISSET_S(cpu, bytes, mask.data()) ? '1' : '0';
      cpus.erase(cpus.find_last_of('1') + 1);
      return cpus;
    }
    if (errno != EINVAL) break;  // EINVAL: the mask is too short for the CPUs that the kernel supports
  }
  return {};
}

int cpus_each(const std::string& mine, std::span<const std::string> of_node) {
  const auto sharers = std::max<std::ptrdiff_t>(std::ranges::count(of_node, mine), 1);
  return static_cast<int>(std::max<std::ptrdiff_t>(std::ranges::count(mine, '1') / sharers, 1));
}

std::string crowding_in_words(const std::string& mine, std::span<const std::string> of_node, std::int64_t on_node) {
  const auto sharers = std::ranges::count(of_node, mine);
  const auto cpus = std::ranges::count(mine, '1');
  if (cpus == 0 || cpus >= sharers || cpus >= on_node) return "";
  return fmt::format(
      "{} ranks share {} of the {} CPUs of this node because the launcher binds them to these CPUs; "
      "each rank gets one thread. In Slurm, {}",
      sharers, cpus, on_node, more_cpus_advice);
}

}  // namespace trainrt::program
