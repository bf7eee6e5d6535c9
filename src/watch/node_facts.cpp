#include "watch/node_facts.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include "core/host.hpp"

namespace trainrt::watch {

namespace {

/// The numbers of the first line of /proc/stat: user nice system idle iowait irq softirq steal (proc(5)), in ticks.
std::vector<double> ticks_of_node() {
  std::ifstream file("/proc/stat");
  std::string word;
  file >> word;
  std::vector<double> ticks;
  for (double number = 0; ticks.size() < 8 && file >> number;) ticks.push_back(number);
  return ticks;
}

float clock_ghz(const std::string& cpu, const char* name) {
  double kilohertz = 0;
  std::ifstream(fmt::format("/sys/devices/system/cpu/{}/cpufreq/{}", cpu, name)) >> kilohertz;
  return static_cast<float>(kilohertz / 1e6);
}

}  // namespace

NodeFacts::Counts NodeFacts::count() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  const auto ticks = ticks_of_node();
  return {.at_s = monotonic_seconds(),
          .preempted = static_cast<double>(used.ru_nivcsw),
          .major_faults = static_cast<double>(used.ru_majflt),
          .stolen = ticks.size() == 8 ? ticks[7] : 0,
          .all = std::accumulate(ticks.begin(), ticks.end(), 0.0)};
}

void NodeFacts::look(WindowTimes& window, bool with_clock) {
  const auto now = count();
  const auto seconds = std::max(now.at_s - last_.at_s, 1e-9);
  window.preempted = static_cast<float>((now.preempted - last_.preempted) / seconds);
  window.major_faults = static_cast<float>((now.major_faults - last_.major_faults) / seconds);
  if (now.all > last_.all) window.stolen = static_cast<float>((now.stolen - last_.stolen) / (now.all - last_.all));
  last_ = now;
  if (!with_clock) return;
  const auto cpu = fmt::format("cpu{}", sched_getcpu());
  window.clock_ghz = clock_ghz(cpu, "scaling_cur_freq");
  window.full_clock_ghz = clock_ghz(cpu, "cpuinfo_max_freq");
}

}  // namespace trainrt::watch
