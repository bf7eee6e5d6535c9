#include "watch/usage.hpp"

#include <algorithm>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include "core/host.hpp"
#include "core/process/processes.hpp"

namespace trainrt::watch {

namespace {

constexpr std::int64_t most_for_proportions = std::int64_t{16} << 30;

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
  if (processes.size() == 1 || usage.rss > most_for_proportions) return;
  std::int64_t sum = 0;
  for (const pid_t process : processes) {
    const auto part = proportional_memory(process);
    add_known(sum, part >= 0 ? part : memory_of_process(process).now);
  }
  usage.rss = sum;
}

/// Never less than before: a process that ends between two lines of a look is missing in that look.
template <class Number>
Number since(Number begun, Number now, Number& most) {
  if (now < 0) return most;
  return most = std::max(most, now - std::max<Number>(begun, 0));
}

}  // namespace

/// Parents come first: a child that ends meanwhile is missed this time, rather than counted in its parent's numbers too.
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
  const bool of_whole_process = monotonic_seconds() - seconds_since_process_start() >= since_s - clocks_differ_s;
  if (!of_whole_process) begun_ = count();
}

Usage UsageMeter::look() {
  auto now = count();
  now.cpu_s = since(begun_.cpu_s, now.cpu_s, most_.cpu_s);
  now.read = since(begun_.read, now.read, most_.read);
  now.written = since(begun_.written, now.written, most_.written);
  now.peak = most_.peak = std::max({most_.peak, now.peak, now.rss});
  return now;
}

}  // namespace trainrt::watch
