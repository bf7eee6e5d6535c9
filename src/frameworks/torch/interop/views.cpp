#include "views.hpp"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <optional>

#include <trainrt/error.hpp>

namespace trainrt::frameworks {

namespace {

std::optional<DType> dtype_from(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return DType::f64;
    case at::kFloat:
      return DType::f32;
    case at::kHalf:
      return DType::f16;
    case at::kBFloat16:
      return DType::bf16;
    case at::kLong:
      return DType::i64;
    case at::kInt:
      return DType::i32;
    case at::kShort:
      return DType::i16;
    case at::kChar:
      return DType::i8;
    case at::kByte:
      return DType::u8;
    case at::kBool:
      return DType::boolean;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string state_name(const std::string& prefix, const std::string& torch_name) {
  std::string name = prefix + "/" + torch_name;
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), '.', '/');
  return name;
}

TensorView view_of(const at::Tensor& tensor, const std::string& name) {
  if (!(tensor.is_cpu() || tensor.is_cuda()) || tensor.layout() != at::kStrided)
    throw UsageError("torch: tensor '" + name +
                     "' is sparse or on an unsupported device; it must be a dense tensor in host or CUDA memory");
  if (!tensor.is_contiguous())
    throw UsageError("torch: tensor '" + name +
                     "' is not contiguous. Call .contiguous() before you register it as a parameter or buffer");
  const auto dtype = dtype_from(tensor.scalar_type());
  if (!dtype)
    throw UsageError("torch: tensor '" + name + "' has type " + c10::toString(tensor.scalar_type()) +
                     ", which checkpoints cannot store; supported are floating-point numbers, signed integers, uint8 and "
                     "bool");
  return TensorView{tensor.data_ptr(), *dtype, tensor.sizes().vec(), tensor.is_cuda() ? Device::cuda : Device::host};
}

}  // namespace trainrt::frameworks
