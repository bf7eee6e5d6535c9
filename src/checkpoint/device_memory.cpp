#include "checkpoint/device_memory.hpp"

#include <algorithm>

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

int gpu_of(const TensorEntry& entry, device::Runtime& runtime) {
  if (entry.local.device == Device::host || entry.local.bytes() == 0) return -1;
  if (const auto gpu = runtime.owner_of(entry.local.data)) return *gpu;
  const auto why = runtime.no_gpu_reason();
  throw UsageError("the tensor '" + entry.name +
                   "' of the State is declared as GPU memory, but its memory is not on a GPU" +
                   (why.empty() ? "" : ": " + why));
}

bool any_on_device(const State& state) {
  return std::ranges::any_of(state.tensors(), [](const auto& entry) { return entry.local.device != Device::host; });
}

}  // namespace trainrt::checkpoint
