#pragma once
#include <string>

#include <trainrt/tensor.hpp>

namespace at {
class Tensor;
}

namespace trainrt::frameworks {

/// A view of one tensor, contiguous and in memory of the host or of a GPU, of a type that DType knows; else a UsageError
/// with `name`.
TensorView view_of(const at::Tensor& tensor, const std::string& name);

/// "model" and "fc1.weight" -> "model/fc1/weight".
std::string state_name(const std::string& prefix, const std::string& torch_name);

}  // namespace trainrt::frameworks
