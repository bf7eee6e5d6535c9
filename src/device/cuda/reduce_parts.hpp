#pragma once
#include <cuda_runtime_api.h>

#include "device/runtime.hpp"

namespace trainrt::device {

/// Enqueues the reduction on `stream`. Returns the error of the kernel launch.
cudaError_t reduce_parts(const TreeReduction& reduction, cudaStream_t stream);

}  // namespace trainrt::device
