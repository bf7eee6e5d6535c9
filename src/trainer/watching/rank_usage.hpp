#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device/gpu_meter.hpp"
#include "rundir/records/rank_status.hpp"
#include "watch/energy.hpp"
#include "watch/usage.hpp"

namespace trainrt::trainer {

/// Measures the CPU time, memory, storage and GPUs that a rank uses. On the first rank of a node, also measures the node's
/// energy. Must be used by one thread at a time.
class RankUsage {
 public:
  /// `since_s`: see the constructor of UsageMeter. If `is_first_of_node` is true, the node's energy is measured from
  /// this call on, and memory_warning() checks the node's memory.
  RankUsage(double since_s, bool is_first_of_node);
  /// Starts to measure the GPUs of `gpus`; nullptr if no GPUs can be measured. Must be called before the first
  /// sample(), on the thread that calls sample(), and not on the train thread: NVML may take seconds to start.
  void set_gpus(std::unique_ptr<device::GpuMeter> gpus);
  /// Sets the members of `status` that describe CPU time, memory, storage, GPUs and energy.
  void sample(rundir::RankStatus& status);
  /// Returns a warning when the node's processes first use almost all memory that a cgroup allows; otherwise "".
  std::string memory_warning();

 private:
  void sample_gpus(rundir::RankStatus& status);
  void sample_energy(rundir::RankStatus& status);

  bool is_first_of_node_;
  bool is_warned_ = false;
  watch::UsageMeter usage_;
  std::optional<watch::EnergyMeter> energy_;
  std::unique_ptr<device::GpuMeter> gpus_;
  std::map<std::string, double> gpu_energy_before_;  ///< energy counter of each GPU at set_gpus(), joules, by UUID
  std::optional<double> gpu_energy_;                 ///< energy of all GPUs since set_gpus(), joules
  double busy_sum_ = 0;
  int busy_samples_ = 0;
};

}  // namespace trainrt::trainer
