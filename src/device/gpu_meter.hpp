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
  std::optional<double> busy;               ///< utilization from 0 to 1, over the last second or less
  std::optional<double> energy_j;           ///< joules since the driver was loaded
  std::map<pid_t, std::int64_t> processes;  ///< computing processes, with the bytes that each uses; -1: unknown
};

/// Measures the GPUs of this node, including the work of other processes. Must be called from one thread at a time.
class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  virtual std::vector<GpuReading> read() = 0;
};

/// Returns a meter that uses NVIDIA's management library, which is installed with the driver, or nullptr if the library
/// cannot be loaded or finds no driver. It needs neither CUDA nor GPU memory.
std::unique_ptr<GpuMeter> nvml_meter(const std::string& library = "libnvidia-ml.so.1");

}  // namespace trainrt::device
