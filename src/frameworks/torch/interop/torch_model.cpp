#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include <set>

#include <trainrt/interop/torch.hpp>

#include "views.hpp"

namespace trainrt {

namespace {

/// Collects defined tensors, each once, with the first of its names.
class UniqueTensors {
 public:
  void add(const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined() && seen_.insert(tensor.unsafeGetTensorImpl()).second) tensors.emplace_back(name, tensor);
  }
  TorchModel::Named tensors;

 private:
  std::set<const void*> seen_;
};

}  // namespace

TorchModel::Named TorchModel::parameters() const {
  UniqueTensors found;
  if (module_)
    for (const auto& item : module_->named_parameters()) found.add(item.key(), item.value());
  else
    for (const auto& item : script_->named_parameters()) found.add(item.name, item.value);
  return std::move(found.tensors);
}

TorchModel::Named TorchModel::buffers() const {
  UniqueTensors found;
  if (module_)
    for (const auto& item : module_->named_buffers()) found.add(item.key(), item.value());
  else
    for (const auto& item : script_->named_buffers()) found.add(item.name, item.value);
  return std::move(found.tensors);
}

void TorchModel::to_gpu(int number) const {
  const at::Device device(at::kCUDA, static_cast<at::DeviceIndex>(number));
  if (module_)
    module_->to(device);
  else
    script_->to(device);
}

void attach_model(State& state, TorchModel model, const std::string& prefix) {
  const auto attach = [&](const std::string& torch_name, const at::Tensor& tensor) -> TensorEntry& {
    const auto name = frameworks::state_name(prefix, torch_name);
    return state.tensor(name, frameworks::view_of(tensor, name));
  };
  for (const auto& [name, tensor] : model.parameters()) attach(name, tensor);
  for (const auto& [name, tensor] : model.buffers()) attach(name, tensor).per_rank();
}

void broadcast_model(Communicator& communicator, TorchModel model) {
  torch::NoGradGuard no_grad;
  const auto send = [&](const std::string& name, const at::Tensor& tensor) {
    frameworks::view_of(tensor, name);  // throws if the tensor cannot be sent
    const auto on_host = tensor.cpu();  // a tensor in host memory is not copied
    const auto view = frameworks::view_of(on_host, name);
    communicator.broadcast(Buffer{view.data, static_cast<std::size_t>(tensor.numel()), view.dtype}, 0, name);
    if (!tensor.is_cpu()) tensor.copy_(on_host);
  };
  for (const auto& [name, tensor] : model.parameters()) send(name, tensor);
  for (const auto& [name, tensor] : model.buffers()) send(name, tensor);
}

}  // namespace trainrt
