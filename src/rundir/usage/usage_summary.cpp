#include "rundir/usage/usage_summary.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::rundir {

namespace {

/// The union of the CPUs that the ranks of one host may use.
struct HostCpus {
  std::set<std::int64_t> cpus;
  double age_s = 0;
};

/// Returns the CPU numbers in a list such as "0-3,8"; an empty set for an invalid list.
std::set<std::int64_t> cpus_in(const std::string& list) {
  constexpr std::int64_t max_cpus = 65536;
  std::set<std::int64_t> cpus;
  for (const auto& piece : words_in(list)) {
    const auto dash = piece.find('-');
    const auto first = parse_integer(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= max_cpus) return {};
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

/// Sets the number of available CPUs and the available CPU time in `sum`. The available CPU time is the time for which the
/// attempt's ranks could use a CPU, summed over the CPUs of all hosts. CPUs that several ranks share count once.
void add_available_cpus(UsageSummary& sum, const std::vector<std::optional<RankStatus>>& statuses) {
  std::map<std::string, HostCpus> hosts;
  for (const auto& status : statuses) {
    if (!status) continue;
    const auto cpus = cpus_in(status->cpu_list);
    if (cpus.empty()) {
      sum.cpus += status->cpus;
      sum.available_cpu_s += status->cpus * status->age_s;
    }
    auto& host = hosts[status->host];
    host.cpus.insert(cpus.begin(), cpus.end());
    host.age_s = std::max(host.age_s, status->age_s);
  }
  for (const auto& [name, host] : hosts) {
    sum.cpus += std::ssize(host.cpus);
    sum.available_cpu_s += static_cast<double>(host.cpus.size()) * host.age_s;
  }
}

void add_known(std::int64_t& sum, std::int64_t number) {
  if (number >= 0) sum = std::max<std::int64_t>(sum, 0) + number;
}

void add_peak(UsageSummary& sum, std::int64_t peak, std::int64_t rank) {
  if (peak <= sum.peak) return;
  sum.peak = peak;
  sum.peak_rank = rank;
}

void add_energy(UsageSummary& sum, const std::optional<double>& joules, const std::string& of) {
  if (!joules) return;
  sum.energy_of = !sum.energy_j || sum.energy_of == of ? of : "";
  sum.energy_j = sum.energy_j.value_or(0) + *joules;
}

}  // namespace

std::optional<double> UsageSummary::cpu_use() const {
  return available_cpu_s > 0 ? std::optional(cpu_s / available_cpu_s) : std::nullopt;
}

std::optional<double> UsageSummary::gpu_use() const { return gpu_s > 0 ? std::optional(gpu_busy_s / gpu_s) : std::nullopt; }

std::int64_t allowed_cpus(const std::vector<std::optional<RankStatus>>& statuses) {
  UsageSummary sum;
  add_available_cpus(sum, statuses);
  return sum.cpus;
}

UsageSummary usage_of(const std::vector<std::optional<RankStatus>>& statuses) {
  UsageSummary sum;
  for (const auto& status : statuses) {
    if (!status) continue;
    ++sum.ranks;
    sum.cpu_s += std::max(status->cpu_s, 0.0);
    add_peak(sum, status->peak, status->rank);
    add_known(sum.read, status->read);
    add_known(sum.written, status->written);
    add_energy(sum, status->energy_j, status->energy_of);
    if (!status->gpu_mean) continue;
    sum.gpu_busy_s += *status->gpu_mean * status->age_s;
    sum.gpu_s += status->age_s;
  }
  add_available_cpus(sum, statuses);
  return sum;
}

UsageSummary sum_of(const std::vector<UsageSummary>& attempts) {
  UsageSummary sum;
  for (const auto& attempt : attempts) {
    sum.ranks += attempt.ranks;
    sum.cpu_s += attempt.cpu_s;
    sum.available_cpu_s += attempt.available_cpu_s;
    add_peak(sum, attempt.peak, attempt.peak_rank);
    add_known(sum.read, attempt.read);
    add_known(sum.written, attempt.written);
    sum.gpu_busy_s += attempt.gpu_busy_s;
    sum.gpu_s += attempt.gpu_s;
    add_energy(sum, attempt.energy_j, attempt.energy_of);
  }
  return sum;
}

}  // namespace trainrt::rundir
