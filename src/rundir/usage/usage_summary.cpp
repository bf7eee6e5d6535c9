#include "rundir/usage/usage_summary.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/options.hpp"
#include "core/text/text.hpp"

namespace trainrt::rundir {

namespace {

/// The CPUs that ranks of a host have together.
struct HostCpus {
  std::set<std::int64_t> cpus;
  double age_s = 0;
};

/// "0-3,8"; what is no such list has none.
std::set<std::int64_t> cpus_in(const std::string& list) {
  constexpr std::int64_t most_cpus = 65536;
  std::set<std::int64_t> cpus;
  for (const auto& piece : words_in(list)) {
    const auto dash = piece.find('-');
    const auto first = parse_integer(piece.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(piece.substr(dash + 1));
    if (!first || !last || *first < 0 || *last >= most_cpus) return {};
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

/// CPUs times seconds.
double given_to(const std::vector<std::optional<RankSign>>& signs) {
  double given_s = 0;
  std::map<std::string, HostCpus> hosts;
  for (const auto& sign : signs) {
    if (!sign) continue;
    const auto cpus = cpus_in(sign->cpu_list);
    if (cpus.empty()) given_s += sign->cpus * sign->age_s;
    auto& host = hosts[sign->host];
    host.cpus.insert(cpus.begin(), cpus.end());
    host.age_s = std::max(host.age_s, sign->age_s);
  }
  for (const auto& [name, host] : hosts) given_s += static_cast<double>(host.cpus.size()) * host.age_s;
  return given_s;
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

std::optional<double> UsageSummary::cpu_use() const { return given_s > 0 ? std::optional(cpu_s / given_s) : std::nullopt; }

std::optional<double> UsageSummary::gpu_use() const { return gpu_s > 0 ? std::optional(gpu_busy_s / gpu_s) : std::nullopt; }

UsageSummary usage_of(const std::vector<std::optional<RankSign>>& signs) {
  UsageSummary sum;
  for (const auto& sign : signs) {
    if (!sign) continue;
    ++sum.ranks;
    sum.cpu_s += std::max(sign->cpu_s, 0.0);
    add_peak(sum, sign->peak, sign->rank);
    add_known(sum.read, sign->read);
    add_known(sum.written, sign->written);
    add_energy(sum, sign->energy_j, sign->energy_of);
    if (!sign->gpu_mean) continue;
    sum.gpu_busy_s += *sign->gpu_mean * sign->age_s;
    sum.gpu_s += sign->age_s;
  }
  sum.given_s = given_to(signs);
  return sum;
}

UsageSummary sum_of(const std::vector<UsageSummary>& attempts) {
  UsageSummary sum;
  for (const auto& attempt : attempts) {
    sum.ranks += attempt.ranks;
    sum.cpu_s += attempt.cpu_s;
    sum.given_s += attempt.given_s;
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
