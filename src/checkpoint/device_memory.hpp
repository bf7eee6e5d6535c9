#pragma once
#include <trainrt/state.hpp>

#include "device/copier.hpp"

namespace trainrt::checkpoint {

/// Returns the number of the GPU that owns the memory of a tensor; -1 for host memory and for empty tensors. Throws
/// UsageError naming the tensor if the State declares it as GPU memory but `runtime` finds no GPU that owns the pointer.
int gpu_of(const TensorEntry& entry, device::Runtime& runtime);

/// Returns whether any tensor of the state is declared as GPU memory.
bool any_on_device(const State& state);

}  // namespace trainrt::checkpoint
