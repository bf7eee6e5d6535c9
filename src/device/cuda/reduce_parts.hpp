#pragma once
#include <cuda_runtime_api.h>

#include "device/runtime.hpp"

namespace trainrt::device {

/// Enqueues the reduction. What it returns is the launch's.
cudaError_t reduce_parts(const TreeReduction& reduction, cudaStream_t stream);

}  // namespace trainrt::device
