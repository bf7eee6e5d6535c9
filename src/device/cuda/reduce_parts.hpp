#pragma once
#include <cuda_runtime_api.h>

#include "device/runtime.hpp"

namespace trainrt::device {

/// Enqueues a reduction in GPU memory on `stream`. Returns the error of the kernel launch, or cudaSuccess.
cudaError_t reduce_parts(const TreeReduction& reduction, cudaStream_t stream);

}  // namespace trainrt::device
