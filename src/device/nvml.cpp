// A GpuMeter that uses NVML (NVIDIA, NVML API Reference Guide), and the declarations of the NVML functions that it needs.
// The NVML library is part of the driver, not of the CUDA toolkit, and its ABI is stable.
#include <array>

#include <dlfcn.h>

#include "device/gpu_meter.hpp"

namespace trainrt::device {

namespace {

constexpr int success = 0, too_small = 7;
constexpr unsigned long long not_available = ~0ULL;
using Device = void*;

struct Utilization {
  unsigned gpu = 0, memory = 0;  // utilization in percent
};
struct Process {
  unsigned pid = 0;
  unsigned long long bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

struct NvmlApi {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count)(unsigned*) = nullptr;
  int (*handle)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*energy)(Device, unsigned long long*) = nullptr;  // returns the energy in mJ
  int (*processes)(Device, unsigned*, Process*) = nullptr;
};

template <class Function>
bool find(void* library, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  return function != nullptr;
}

/// Looks up the NVML functions in `library`. Returns false if a function is missing, as in NVIDIA drivers from before 2021.
bool load(void* library, NvmlApi& api) {
  return find(library, api.init, "nvmlInit_v2") && find(library, api.shutdown, "nvmlShutdown") &&
         find(library, api.count, "nvmlDeviceGetCount_v2") && find(library, api.handle, "nvmlDeviceGetHandleByIndex_v2") &&
         find(library, api.uuid, "nvmlDeviceGetUUID") && find(library, api.utilization, "nvmlDeviceGetUtilizationRates") &&
         find(library, api.energy, "nvmlDeviceGetTotalEnergyConsumption") &&
         find(library, api.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
}

class Nvml : public GpuMeter {
 public:
  explicit Nvml(const NvmlApi& api) : api_(api) {}
  ~Nvml() override { api_.shutdown(); }

  std::vector<GpuReading> read() override {
    std::vector<GpuReading> readings;
    unsigned count = 0;
    if (api_.count(&count) != success) return readings;
    for (unsigned number = 0; number < count; ++number)
      if (Device device = nullptr; api_.handle(number, &device) == success) readings.push_back(read(device));
    return readings;
  }

 private:
  GpuReading read(Device device) const {
    GpuReading reading;
    std::array<char, 96> uuid{};
    if (api_.uuid(device, uuid.data(), uuid.size()) == success) reading.uuid = uuid.data();
    if (Utilization busy; api_.utilization(device, &busy) == success) reading.busy = busy.gpu / 100.0;
    if (unsigned long long millijoules = 0; api_.energy(device, &millijoules) == success)
      reading.energy_j = static_cast<double>(millijoules) / 1000;
    for (const auto& process : processes_on(device))
      reading.processes[static_cast<pid_t>(process.pid)] =
          process.bytes == not_available ? -1 : static_cast<std::int64_t>(process.bytes);
    return reading;
  }

  std::vector<Process> processes_on(Device device) const {
    std::vector<Process> processes(64);
    auto count = static_cast<unsigned>(processes.size());
    int result = api_.processes(device, &count, processes.data());
    if (result == too_small) {
      processes.resize(count += 16);
      result = api_.processes(device, &count, processes.data());
    }
    processes.resize(result == success ? count : 0);
    return processes;
  }

  NvmlApi api_;
};

}  // namespace

/// The NVML library is never unloaded, because it may have started threads.
std::unique_ptr<GpuMeter> nvml_meter(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  NvmlApi api;
  if (handle == nullptr || !load(handle, api) || api.init() != success) return nullptr;
  return std::make_unique<Nvml>(api);
}

}  // namespace trainrt::device
