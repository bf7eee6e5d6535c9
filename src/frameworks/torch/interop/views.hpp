#pragma once
#include <string>

#include <trainrt/tensor.hpp>

namespace at {
class Tensor;
}

namespace trainrt::frameworks {

/// Returns a view of `tensor`, which must outlive the view. Throws a UsageError that names `name` if the tensor is not
/// contiguous, is not in host or GPU memory, or has a type without a DType.
TensorView view_of(const at::Tensor& tensor, const std::string& name);

/// Returns the name of a tensor in a State: "model/fc1/weight" if `prefix` is "model" and `torch_name` is "fc1.weight".
std::string state_name(const std::string& prefix, const std::string& torch_name);

}  // namespace trainrt::frameworks
