#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

namespace at {
class Tensor;
}
namespace torch::nn {
class Module;
}
namespace torch::optim {
class Optimizer;
}

// What of libtorch belongs into a checkpoint, as views in a State. Nothing is copied: the module and the optimizer must
// live until the train function returns, and restoring writes straight into them. A name in the State is a prefix and the
// name that torch gives with '/' for '.': "model/fc1/weight". Tensors lie in host memory and are contiguous, of a type
// that DType knows; any other throws a UsageError that names the tensor.
namespace trainrt::frameworks {

/// Parameters as replicated tensors, buffers (BatchNorm's running statistics, which differ) as per_rank ones. A tensor that
/// the module holds under several names (tied weights) is attached once, under the first of them.
void attach_model(State& state, torch::nn::Module& model, const std::string& prefix = "model");

/// What the optimizer remembers of each parameter ("optimizer/fc1/weight/exp_avg"). libtorch makes it lazily in the first
/// step(); here it is made before, with the values that leave the same bits behind, so that a checkpoint can be loaded into
/// it. Knows SGD, Adam and AdamW; another one, SGD with dampening, or a parameter that `model` does not name: UsageError.
/// Options such as the learning rate are the config's and not attached.
void attach_optimizer(State& state, torch::optim::Optimizer& optimizer, const torch::nn::Module& model,
                      const std::string& prefix = "optimizer");

/// Gives every rank rank 0's parameters and buffers. Collective.
void broadcast_model(Communicator& communicator, torch::nn::Module& model);

/// A view of one tensor; `name` is for the message of the error.
TensorView view_of(const at::Tensor& tensor, const std::string& name);

/// "model" and "fc1.weight" -> "model/fc1/weight".
std::string state_name(const std::string& prefix, const std::string& torch_name);

}  // namespace trainrt::frameworks
