#include "trainer/reports/host_tensors.hpp"

#include "checkpoint/device_memory.hpp"

namespace trainrt::trainer {

std::span<const std::byte> HostTensors::bytes_of(const TensorEntry& entry) {
  const auto& local = entry.local;
  const int gpu = checkpoint::gpu_of(entry, copier_.runtime());
  if (gpu < 0) return {static_cast<const std::byte*>(local.data), local.bytes()};
  copy_.resize(local.bytes());
  copier_.follow_default_streams();
  copier_.to_host(copy_.data(), local.data, gpu, copy_.size());
  device::wait_all(copier_.record(), device::max_copy_s, "copying a tensor for a metrics sink");
  return copy_;
}

}  // namespace trainrt::trainer
