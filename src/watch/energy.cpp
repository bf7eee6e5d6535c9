#include "watch/energy.hpp"

#include <fstream>
#include <string>

namespace trainrt::watch {

namespace fs = std::filesystem;

namespace {

std::optional<std::uint64_t> counter_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// Returns whether the energy of a RAPL zone is counted: only CPU packages and DRAM. Other zones overlap with packages:
/// "psys" includes packages, which include "core" and "uncore".
bool is_measured(const fs::path& zone) {
  std::ifstream file(zone / "name");
  std::string name;
  file >> name;
  return name.starts_with("package") || name == "dram";
}

}  // namespace

EnergyMeter::EnergyMeter(const fs::path& root) {
  std::error_code ignored;
  for (const auto& zone : fs::directory_iterator(root, ignored)) {
    if (!zone.path().filename().string().starts_with("intel-rapl:") || !is_measured(zone.path())) continue;
    const auto energy = counter_in(zone.path() / "energy_uj"), range = counter_in(zone.path() / "max_energy_range_uj");
    if (energy && range) counters_.push_back({zone.path() / "energy_uj", *range, *energy});
  }
}

std::optional<double> EnergyMeter::sample() {
  if (counters_.empty()) return std::nullopt;
  for (auto& counter : counters_) {
    const auto now = counter_in(counter.file);
    if (!now) continue;
    used_uj_ += *now >= counter.last ? *now - counter.last : counter.wraps_at - counter.last + *now;
    counter.last = *now;
  }
  return static_cast<double>(used_uj_) / 1e6;
}

}  // namespace trainrt::watch
