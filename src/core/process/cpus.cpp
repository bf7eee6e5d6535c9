#include "core/process/cpus.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>

#include "core/text/text.hpp"

namespace trainrt {

namespace {

/// Instruction sets by which the C library, OpenBLAS, oneDNN and MKL choose code with other rounding errors.
constexpr std::array instruction_sets = {"fma",      "avx",         "avx2",        "avx512f",  "avx512bw",
                                         "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "sve",
                                         "sve2",     "asimdhp",     "bf16",        "i8mm"};

std::atomic<CpuShare> share_of_process;

std::mutex launcher_mutex;
// The CPUs to which the launcher bound this process; set by the first set_affinity_of_this_thread(), which changes them.
std::optional<std::string> affinity_from_launcher;

/// Returns the values of the first CPU in /proc/cpuinfo, by name.
std::map<std::string, std::string, std::less<>> first_cpu(std::string_view cpuinfo) {
  std::map<std::string, std::string, std::less<>> values;
  while (!cpuinfo.empty()) {
    const auto line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(line.size() + 1, cpuinfo.size()));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos && !values.empty()) break;
    if (colon != std::string_view::npos) values.try_emplace(trim(line.substr(0, colon)), trim(line.substr(colon + 1)));
  }
  return values;
}

}  // namespace

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

int cpus_of_this_thread() { return cpu_share(affinity_of_this_thread(), {}).cpus; }

int cpus_each(const std::string& mine, std::span<const std::string> of_node) {
  const auto share = cpu_share(mine, of_node);
  return std::max(share.cpus / share.ranks, 1);
}

CpuShare cpu_share(const std::string& mine, std::span<const std::string> of_node) {
  return {.cpus = static_cast<int>(std::max<std::ptrdiff_t>(std::ranges::count(mine, '1'), 1)),
          .ranks = static_cast<int>(std::max<std::ptrdiff_t>(std::ranges::count(of_node, mine), 1))};
}

int limited_threads(int threads, const CpuShare& share) {
  const auto limit = static_cast<std::int64_t>(threads) * share.cpus / share.ranks;
  return static_cast<int>(std::clamp<std::int64_t>(limit, 1, std::max(threads, 1)));
}

void set_cpu_share_of_process(const CpuShare& share) { share_of_process = share; }

int threads_of_this_rank(int threads) { return limited_threads(threads, share_of_process); }

std::string block_of_cpus(const std::string& affinity, int index, int ranks, int width) {
  std::vector<std::size_t> cpus;
  for (std::size_t cpu = 0; cpu < affinity.size(); ++cpu)
    if (affinity[cpu] == '1') cpus.push_back(cpu);
  const auto count = static_cast<std::int64_t>(cpus.size());
  if (count >= ranks || count <= width || count % width != 0 || ranks % (count / width) != 0) return affinity;
  const auto first = static_cast<std::size_t>(index * (count / width) / ranks * width);
  std::string block(cpus[first + static_cast<std::size_t>(width) - 1] + 1, '0');
  for (std::size_t i = 0; i < static_cast<std::size_t>(width); ++i) block[cpus[first + i]] = '1';
  return block;
}

std::string affinity_of_launcher() {
  const std::lock_guard lock(launcher_mutex);
  return affinity_from_launcher.value_or(affinity_of_this_thread());
}

bool set_affinity_of_this_thread(const std::string& affinity) {
  {
    const std::lock_guard lock(launcher_mutex);
    if (!affinity_from_launcher) affinity_from_launcher = affinity_of_this_thread();
  }
  std::vector<cpu_set_t> mask(affinity.size() / CPU_SETSIZE + 1);
  const auto bytes = mask.size() * sizeof(cpu_set_t);
  for (std::size_t cpu = 0; cpu < affinity.size(); ++cpu)
    if (affinity[cpu] == '1') CPU_SET_S(cpu, bytes, mask.data());
  return sched_setaffinity(0, bytes, mask.data()) == 0;
}

int cpus_together(std::span<const std::string> affinities) {
  std::string all;
  for (const auto& cpus : affinities) {
    all.resize(std::max(all.size(), cpus.size()), '0');
    for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu)
      if (cpus[cpu] == '1') all[cpu] = '1';
  }
  return static_cast<int>(std::ranges::count(all, '1'));
}

std::string kind_of_cpu() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (auto kind = kind_of_cpu_in(text); !kind.empty()) return kind;
  utsname system{};
  return uname(&system) == 0 ? system.machine : "";
}

std::string kind_of_cpu_in(std::string_view cpuinfo) {
  const auto values = first_cpu(cpuinfo);
  std::string kind;
  for (const auto* name : {"model name", "CPU implementer", "CPU part"})
    if (const auto found = values.find(name); found != values.end()) kind += (kind.empty() ? "" : " ") + found->second;
  std::istringstream flags(values.contains("flags")      ? values.at("flags")
                           : values.contains("Features") ? values.at("Features")
                                                         : "");
  const std::set<std::string> known(std::istream_iterator<std::string>(flags), {});
  std::vector<std::string> present;
  std::ranges::copy_if(instruction_sets, std::back_inserter(present), [&](const auto* set) { return known.contains(set); });
  if (!present.empty()) kind += fmt::format("{}({})", kind.empty() ? "" : " ", fmt::join(present, " "));
  return kind;
}

}  // namespace trainrt
