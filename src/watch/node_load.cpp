#include "watch/node_load.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/options.hpp"

namespace trainrt::watch {

namespace {

namespace fs = std::filesystem;

/// Returns the CPU times of the node in ticks, from the first line of /proc/stat: user nice system idle iowait irq softirq
/// steal (proc(5)).
std::vector<double> ticks_of_node(const std::string& root) {
  std::ifstream file(root + "/proc/stat");
  std::string word;
  file >> word;
  std::vector<double> ticks;
  for (double number = 0; ticks.size() < 8 && file >> number;) ticks.push_back(number);
  return ticks;
}

/// Returns NUMBER of the line "NAME NUMBER" in a file such as /proc/vmstat; 0 if the file has no such line.
double number_named(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  for (double number = 0; file >> word >> number;)
    if (word == name) return number;
  return 0;
}

double number_in(const std::string& path) {
  double number = 0;
  std::ifstream(path) >> number;
  return number;
}

template <class Use>
void for_each_entry(const std::string& folder, Use use) {
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none))
    use(entry->path().filename().string());
}

/// Parses /proc/PID/stat. Returns the command name, which may contain any character, and the fields after the name, from
/// field 3 of proc(5) on.
std::pair<std::string, std::vector<std::string>> stat_of(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::istringstream rest(text.substr(close + 1));
  std::vector<std::string> fields;
  for (std::string word; rest >> word;) fields.push_back(word);
  return {text.substr(open + 1, close - open - 1), std::move(fields)};
}

std::optional<int> process_number(const std::string& name) {
  const auto number = parse_integer(name);
  return number && *number > 0 && *number <= 1 << 30 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

}  // namespace

NodeLoad::NodeLoad(std::string root) : root_(std::move(root)), thread_(count_of_thread()) {}

NodeLoad::ThreadCounts NodeLoad::count_of_thread() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return {monotonic_seconds(), static_cast<double>(used.ru_nivcsw), static_cast<double>(used.ru_majflt)};
}

NodeLoad::NodeCounts NodeLoad::count_of_node() const {
  const auto ticks = ticks_of_node(root_);
  return {.at_s = monotonic_seconds(),
          .stolen = ticks.size() == 8 ? ticks[7] : 0,
          .all = std::accumulate(ticks.begin(), ticks.end(), 0.0),
          .swapped = number_named(root_ + "/proc/vmstat", "pswpin"),
          .throttled = number_in(
              fmt::format("{}/sys/devices/system/cpu/cpu{}/thermal_throttle/core_throttle_count", root_, sched_getcpu()))};
}

NodeFacts NodeLoad::sample(bool in_detail) {
  const auto now = count_of_thread();
  const auto last = std::exchange(thread_, now);
  const auto seconds = std::max(now.at_s - last.at_s, 1e-9);
  NodeFacts facts;
  facts.preempted = static_cast<float>((now.preempted - last.preempted) / seconds);
  facts.major_faults = static_cast<float>((now.major_faults - last.major_faults) / seconds);
  if (!in_detail) {
    node_.reset();
    return facts;
  }
  add_node(facts);
  add_cpu(facts);
  return facts;
}

void NodeLoad::add_node(NodeFacts& facts) {
  const auto now = count_of_node();
  const auto last = std::exchange(node_, now);
  const auto seconds = last ? std::max(now.at_s - last->at_s, 1e-9) : 0;
  add_others(facts, seconds);
  if (!last) return;
  facts.swapped = static_cast<float>((now.swapped - last->swapped) / seconds);
  facts.throttled = static_cast<float>(std::max(now.throttled - last->throttled, 0.0));
  if (now.all > last->all) facts.stolen = static_cast<float>((now.stolen - last->stolen) / (now.all - last->all));
}

void NodeLoad::add_cpu(NodeFacts& facts) const {
  const auto cpu = fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/", root_, sched_getcpu());
  facts.clock_ghz = static_cast<float>(number_in(cpu + "scaling_cur_freq") / 1e6);
  facts.full_clock_ghz = static_cast<float>(number_in(cpu + "cpuinfo_max_freq") / 1e6);
  facts.celsius = max_celsius();
  facts.remote_memory = remote_memory();
}

float NodeLoad::max_celsius() const {
  double max_millidegrees = 0;
  for_each_entry(root_ + "/sys/class/thermal", [&](const std::string& zone) {
    max_millidegrees = std::max(max_millidegrees, number_in(root_ + "/sys/class/thermal/" + zone + "/temp"));
  });
  return static_cast<float>(max_millidegrees / 1000);
}

std::map<int, NodeLoad::Process> NodeLoad::processes_on(int cpu) const {
  // Indices in `fields`, which begins with field 3 of proc(5), of the fields 14, 15 and 39.
  constexpr std::size_t user = 11, system = 12, processor = 36;
  const auto tick_s = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::map<int, Process> found;
  for_each_entry(root_ + "/proc", [&](const std::string& name) {
    const auto pid = process_number(name);
    if (!pid || *pid == getpid()) return;
    const auto [command, fields] = stat_of(root_ + "/proc/" + name + "/stat");
    if (fields.size() <= processor || fields[processor] != std::to_string(cpu)) return;
    found[*pid] = {command, tick_s * (parse_real(fields[user]).value_or(0) + parse_real(fields[system]).value_or(0))};
  });
  return found;
}

/// Stores in `facts` which other process used the most time of this CPU since the previous detailed sample. `seconds`: time
/// since that sample; 0 if this sample is the first one.
void NodeLoad::add_others(NodeFacts& facts, double seconds) {
  const auto before = std::exchange(others_, processes_on(sched_getcpu()));
  if (seconds <= 0) return;
  for (const auto& [pid, process] : others_) {
    const auto known = before.find(pid);
    if (known == before.end()) continue;
    const auto share = static_cast<float>((process.cpu_s - known->second.cpu_s) / seconds);
    if (share <= facts.other_share) continue;
    facts.other_share = share;
    facts.other = {};
    std::copy_n(process.name.begin(), std::min(process.name.size(), facts.other.size() - 1), facts.other.begin());
  }
}

/// Returns the share of this process's memory pages that are on another NUMA node than the current CPU. Reads numa_maps
/// (proc(5)), which lists the pages per NUMA node as N0=12 N1=3.
float NodeLoad::remote_memory() const {
  unsigned cpu = 0, own = 0;
  if (!fs::exists(root_ + "/sys/devices/system/node/node1") || getcpu(&cpu, &own) != 0) return 0;
  std::ifstream file(root_ + "/proc/self/numa_maps");
  double here = 0, all = 0;
  for (std::string word; file >> word;) {
    const auto equals = word.find('=');
    if (word.size() < 4 || word[0] != 'N' || equals == std::string::npos) continue;
    const auto node = parse_integer(word.substr(1, equals - 1));
    const auto pages = parse_real(word.substr(equals + 1));
    if (!node || !pages) continue;
    all += *pages;
    if (*node == static_cast<std::int64_t>(own)) here += *pages;
  }
  return all > 0 ? static_cast<float>(1 - here / all) : 0;
}

}  // namespace trainrt::watch
