#include <torch/nn/module.h>

#include <algorithm>
#include <optional>
#include <set>

#include <trainrt/error.hpp>

#include "attach.hpp"

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

/// Calls visit(state name, tensor) once for every tensor, however many names it has.
template <class Named, class Visit>
void for_each_tensor(const Named& tensors, const std::string& prefix, Visit visit) {
  std::set<const void*> seen;
  for (const auto& item : tensors) {
    const at::Tensor& tensor = item.value();
    if (tensor.defined() && seen.insert(tensor.unsafeGetTensorImpl()).second) visit(state_name(prefix, item.key()), tensor);
  }
}

}  // namespace

std::string state_name(const std::string& prefix, const std::string& torch_name) {
  std::string name = prefix + "/" + torch_name;
  std::replace(name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), name.end(), '.', '/');
  return name;
}

TensorView view_of(const at::Tensor& tensor, const std::string& name) {
  if (!tensor.device().is_cpu() || tensor.layout() != at::kStrided)
    throw UsageError("torch: '" + name + "' is not a plain tensor in host memory: a checkpoint can hold no view of it");
  if (!tensor.is_contiguous())
    throw UsageError("torch: '" + name + "' is not contiguous: call .contiguous() before it becomes a parameter or buffer");
  const auto dtype = dtype_from(tensor.scalar_type());
  if (!dtype)
    throw UsageError("torch: '" + name + "' has type " + c10::toString(tensor.scalar_type()) +
                     ", which checkpoints do not know");
  return TensorView{tensor.data_ptr(), *dtype, tensor.sizes().vec()};
}

void attach_model(State& state, torch::nn::Module& model, const std::string& prefix) {
  for_each_tensor(model.named_parameters(), prefix,
                  [&](const std::string& name, const at::Tensor& tensor) { state.tensor(name, view_of(tensor, name)); });
  for_each_tensor(model.named_buffers(), prefix, [&](const std::string& name, const at::Tensor& tensor) {
    state.tensor(name, view_of(tensor, name)).per_rank();
  });
}

void broadcast_model(Communicator& communicator, torch::nn::Module& model) {
  const auto send = [&](const std::string& name, const at::Tensor& tensor) {
    const auto view = view_of(tensor, name);
    communicator.broadcast(Buffer{view.data, static_cast<std::size_t>(tensor.numel()), view.dtype}, 0);
  };
  for_each_tensor(model.named_parameters(), "model", send);
  for_each_tensor(model.named_buffers(), "model", send);
}

}  // namespace trainrt::frameworks
