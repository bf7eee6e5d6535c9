#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace trainrt::watch {

/// Measures the energy that the CPU packages of a node and their memory use after the construction, by RAPL (Linux:
/// powercap, intel-rapl, also for AMD's processors). The counters wrap after some minutes at full load, so that sample()
/// must be called before one wraps twice.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& root = "/sys/class/powercap");
  /// Returns joules since the construction, or nullopt if no counter exists or is readable.
  std::optional<double> sample();

 private:
  struct Counter {
    std::filesystem::path file;
    std::uint64_t wraps_at = 0, last = 0;
  };
  std::vector<Counter> counters_;
  std::uint64_t used_uj_ = 0;
};

}  // namespace trainrt::watch
