#pragma once
#include <trainrt/state.hpp>

#include "device/copier.hpp"

namespace trainrt::checkpoint {

/// The GPU whose memory the entry's tensor lies in, -1 for memory of the host. UsageError that names the tensor if it is
/// said to lie on a GPU and does not. An empty tensor lies nowhere: -1.
int gpu_of(const TensorEntry& entry, device::Runtime& runtime);

bool any_on_device(const State& state);

}  // namespace trainrt::checkpoint
