#pragma once
#include <source_location>

#include <cuda_runtime_api.h>

namespace trainrt::device {

/// Checks the return code of a CUDA function. Throws Error with the name of the calling function and CUDA's message.
void check_cuda(cudaError_t code, std::source_location where = std::source_location::current());

}  // namespace trainrt::device
