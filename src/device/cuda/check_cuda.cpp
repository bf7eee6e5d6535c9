#include "device/cuda/check_cuda.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::device {

void check_cuda(cudaError_t code, std::source_location where) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that the next check does not find it again
  throw Error(
      fmt::format("CUDA failed in {}: {} ({})", where.function_name(), cudaGetErrorString(code), cudaGetErrorName(code)));
}

}  // namespace trainrt::device
