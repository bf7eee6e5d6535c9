// The implementation of cuda_runtime() in a build without the CUDA toolkit.
#include "device/cuda_runtime.hpp"

namespace trainrt::device {

Runtime& cuda_runtime() {
  static NoGpus none("this trainrt was built without the CUDA toolkit");
  return none;
}

}  // namespace trainrt::device
