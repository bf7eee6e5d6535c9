#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace trainrt::watch {

/// Measures the energy that the CPU packages and the memory of a node have used since the construction, with the RAPL
/// counters of Linux (powercap, intel-rapl; also for AMD processors). The counters wrap after some minutes at full load, so
/// sample() must be called at least once per wrap.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& root = "/sys/class/powercap");
  /// Returns the energy in joules since the construction; nullopt if no counter exists or is readable.
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
