#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt::device {

/// Measurements of one GPU of this node. Values that the driver does not report are empty.
struct GpuReading {
  std::string uuid;
  std::optional<double> busy;      ///< GPU utilization from 0 to 1, averaged over the last second or less
  std::optional<double> energy_j;  ///< energy consumption in joules since the driver was loaded
  /// GPU memory in bytes used by each process that computes on the GPU, by process id; -1: unknown.
  std::map<pid_t, std::int64_t> processes;
};

/// Measures the GPUs of this node, including the work of other processes. Not thread-safe: only one thread at a time may
/// use a meter.
class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  virtual std::vector<GpuReading> read() = 0;
};

/// Returns a meter that uses NVIDIA's management library (NVML), which is installed with the driver. Returns nullptr if the
/// library cannot be loaded or finds no driver. The meter needs neither CUDA nor GPU memory.
std::unique_ptr<GpuMeter> nvml_meter(const std::string& library = "libnvidia-ml.so.1");

}  // namespace trainrt::device
