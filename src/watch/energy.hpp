#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace trainrt::watch {

/// The energy that a node's CPU packages and their memory use from now on, by RAPL (Linux: powercap, intel-rapl, which
/// AMD's processors have too). Its counters wrap, after some minutes at full load: a look must come before they have done
/// so twice.
class EnergyMeter {
 public:
  explicit EnergyMeter(const std::filesystem::path& root = "/sys/class/powercap");
  /// Joules. Nothing if there are no counters, or only root may read them.
  std::optional<double> look();

 private:
  struct Counter {
    std::filesystem::path file;
    std::uint64_t wraps_at = 0, last = 0;
  };
  std::vector<Counter> counters_;
  std::uint64_t used_uj_ = 0;
};

}  // namespace trainrt::watch
