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

/// Measures what one rank uses of its node: CPUs, memory, storage, GPUs; and the node's energy, if `of_node`.
/// One thread at a time.
class RankUsage {
 public:
  /// `since_s`: UsageMeter's; GPUs and energy are measured from now on.
  RankUsage(double since_s, bool of_node);
  /// Before the first look, in the thread that looks: NVML may take seconds. nullptr: there are no GPUs.
  void take_gpus(std::unique_ptr<device::GpuMeter> gpus);
  /// Fills in the figures.
  void look(rundir::RankStatus& sign);
  /// Once, if the node's processes come near to the memory that a cgroup allows: words to warn with; else "".
  std::string memory_warning();

 private:
  void look_at_gpus(rundir::RankStatus& sign);
  void look_at_energy(rundir::RankStatus& sign);

  bool of_node_;
  bool is_warned_ = false;
  watch::UsageMeter usage_;
  std::optional<watch::EnergyMeter> energy_;
  std::unique_ptr<device::GpuMeter> gpus_;
  std::map<std::string, double> gpu_energy_before_;  ///< by UUID, joules
  std::optional<double> gpu_energy_;
  double busy_sum_ = 0;
  int busy_looks_ = 0;
};

}  // namespace trainrt::trainer
