#include "watch/usage.hpp"

#include <algorithm>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/process/processes.hpp"

namespace trainrt::watch {

namespace {

constexpr std::int64_t max_bytes_for_pss = std::int64_t{16} << 30;

void add_known(std::int64_t& sum, std::int64_t number) {
  if (number >= 0) sum = std::max<std::int64_t>(sum, 0) + number;
}

void take_memory(Usage& usage, const std::vector<pid_t>& processes) {
  for (const pid_t process : processes) {
    const auto memory = memory_of_process(process);
    add_known(usage.rss, memory.now);
    usage.peak = std::max(usage.peak, memory.peak);
  }
  rusage ended{};
  if (getrusage(RUSAGE_CHILDREN, &ended) == 0) usage.peak = std::max<std::int64_t>(usage.peak, 1024 * ended.ru_maxrss);
  if (processes.size() == 1 || usage.rss > max_bytes_for_pss) return;
  std::int64_t sum = 0;
  for (const pid_t process : processes) {
    const auto part = proportional_memory(process);
    add_known(sum, part >= 0 ? part : memory_of_process(process).now);
  }
  usage.rss = sum;
}

/// Returns the increase of a resource counter since `begin`, but at least `max`, the result of the previous sample. A
/// process that ends during a sample is missing in the sample, and would otherwise decrease the result.
template <class Number>
Number since(Number begin, Number now, Number& max) {
  if (now < 0) return max;
  return max = std::max(max, now - std::max<Number>(begin, 0));
}

}  // namespace

/// Returns the resources used so far by this process and its descendants. Reads parents before their children: a child that
/// ends meanwhile is missing in the sample, instead of being counted twice.
Usage UsageMeter::count() {
  const auto processes = process_tree(getpid());
  long ticks = 0;
  Usage usage;
  for (const pid_t process : processes) {
    ticks += cpu_ticks(process);
    const auto bytes = storage_bytes(process);
    add_known(usage.read, bytes.read);
    add_known(usage.written, bytes.written);
  }
  usage.cpu_s = static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
  take_memory(usage, processes);
  return usage;
}

UsageMeter::UsageMeter(double since_s) {
  constexpr double clocks_differ_s = 0.1;
  const bool counts_from_start = monotonic_seconds() - seconds_since_process_start() >= since_s - clocks_differ_s;
  if (!counts_from_start) begin_ = count();
}

Usage UsageMeter::sample() {
  auto now = count();
  now.cpu_s = since(begin_.cpu_s, now.cpu_s, max_.cpu_s);
  now.read = since(begin_.read, now.read, max_.read);
  now.written = since(begin_.written, now.written, max_.written);
  now.peak = max_.peak = std::max({max_.peak, now.peak, now.rss});
  return now;
}

}  // namespace trainrt::watch
