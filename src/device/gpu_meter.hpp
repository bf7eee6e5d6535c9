#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace trainrt::device {

/// What the driver tells of a GPU of this node; what it does not tell is not there.
struct GpuReading {
  std::string uuid;
  std::optional<double> busy;               ///< 0 to 1, over the last second or less
  std::optional<double> energy_j;           ///< since the driver was loaded
  std::map<pid_t, std::int64_t> processes;  ///< that compute on it, with the bytes that they have there; -1 = not known
};

/// Reads what the GPUs of this node do. Other processes' work shows too. One thread at a time.
class GpuMeter {
 public:
  virtual ~GpuMeter() = default;
  virtual std::vector<GpuReading> read() = 0;
};

/// NVIDIA's management library, which comes with the driver; nullptr if it is not there, or finds no driver. It needs no
/// CUDA, and takes up no memory of a GPU.
std::unique_ptr<GpuMeter> nvml_meter(const std::string& library = "libnvidia-ml.so.1");

}  // namespace trainrt::device
