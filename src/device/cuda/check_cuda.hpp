#pragma once
#include <source_location>

#include <cuda_runtime_api.h>

namespace trainrt::device {

/// The one check of what CUDA's runtime returns: throws Error with the name of the calling function.
void check_cuda(cudaError_t code, std::source_location where = std::source_location::current());

}  // namespace trainrt::device
