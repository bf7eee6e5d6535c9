#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/context.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/state.hpp>

// Functions for train functions that use libtorch. Programs that use them must link trainrt_torch (pkg-config
// trainrt-torch) and libtorch.
//
//   Net net;
//   auto gradients = trainrt::prepare_model(net, ctx);                  // moves net to the GPU, equal on all ranks
//   torch::optim::AdamW optimizer(net.parameters(), 1e-3);
//   trainrt::State state;
//   trainrt::attach_model(state, net);
//   trainrt::attach_optimizer(state, optimizer, net);
//   ctx.restore(state);
//   ...
//     gradients.zero();
//     loss_of(net, batch).backward();                                   // reductions start while it runs
//     gradients.average();
//     optimizer.step();
//     ctx.step();

namespace at {
class Tensor;
}
namespace torch::nn {
class Module;
}
namespace torch::jit {
struct Module;
}
namespace torch::optim {
class Optimizer;
}

namespace trainrt {

/// A reference to a libtorch model: a C++ module (torch::nn::Module) or a TorchScript module. Modules convert to TorchModel
/// implicitly. A TorchModel must not outlive the module.
class TorchModel {
 public:
  TorchModel(torch::nn::Module& module) : module_(&module) {}
  TorchModel(torch::jit::Module& script) : script_(&script) {}

  using Named = std::vector<std::pair<std::string, at::Tensor>>;
  /// Returns the model's parameters with their names, in the module's order. A tensor with several names (tied weights) is
  /// returned once, with its first name.
  Named parameters() const;
  Named buffers() const;  ///< returns the model's buffers with their names, in the module's order
  /// Moves the model's parameters and buffers to the GPU with CUDA device number `number`. They remain the same tensor
  /// objects, so an optimizer that refers to them stays valid.
  void to_gpu(int number) const;

 private:
  torch::nn::Module* module_ = nullptr;
  torch::jit::Module* script_ = nullptr;
};

/// Averages the gradients of a model's parameters over the ranks while the backward pass runs.
///
/// One step: zero(), one or more calls of backward() (see accumulate()), average().
///
/// The object averages the gradients of those parameters that require a gradient when it is constructed. These parameters
/// must be on one device, and of type f64, f32, f16 or bf16; types may be mixed.
///
/// If the backward pass on a rank does not use a parameter, its gradient on that rank counts as zero. The reduction of
/// each bucket starts when its gradients are complete, in the same order on all ranks.
///
/// If the communicator supports the parameters' device, the grad of each parameter is a view of a bucket (GradientBuckets),
/// which is reduced in place. Otherwise, and for GPU gradients that are sent as bf16, gradients are copied to the buckets
/// and back. The object must live as long as the gradients are used; its destructor removes the gradients from the
/// parameters.
class Gradients {
 public:
  /// Throws UsageError if no parameter of the model requires a gradient, or if such a parameter is not contiguous.
  /// Collective.
  Gradients(Communicator& communicator, TorchModel model, const GradientOptions& options = {});
  Gradients(Gradients&&) noexcept;
  Gradients& operator=(Gradients&&) = delete;
  ~Gradients();

  /// Begins a training step: the next backward pass overwrites the gradients, later passes of the step add to them. zero()
  /// itself writes no memory. Not collective.
  void zero();
  /// Declares whether the following backward passes only accumulate gradients. If `only` is true, they add to the
  /// gradients and start no reductions. If `only` is false (the initial state), the next backward pass is the last of the
  /// step and starts the reductions; another backward pass in the same step then throws UsageError.
  void accumulate(bool only);
  /// Replaces every gradient by its mean over the ranks. If the grad of a parameter was replaced or reset after the
  /// backward pass, throws an Error that names the parameter. Collective.
  void average();
  /// Scales all gradients, after average(), so that their global L2 norm is at most `max_norm`; see
  /// GradientBuckets::clip(). Does not wait for the GPU. Not collective.
  void clip(double max_norm);
  /// Returns the global L2 norm that the gradients had before the last clip(); 0 if clip() was never called. Waits for the
  /// GPU.
  double norm() const;

  std::size_t bucket_count() const;  ///< number of buckets
  /// Returns the fraction of the gradients' bytes, 0 to 1, for which the reduction was complete when average() was last
  /// called.
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Prepares a model for training on all ranks (Ray: ray.train.torch.prepare_model).
///
/// Moves the model to this rank's first GPU (ctx.gpus()), if the rank has a GPU, and copies rank 0's parameters and buffers
/// to all ranks. Returns the object that averages the model's gradients, with the run's options scaling.bucket_size and
/// scaling.gradient_wire. Call prepare_model() before the first forward pass and before ctx.restore(). The result must live
/// as long as the model is trained. Collective.
[[nodiscard]] Gradients prepare_model(TorchModel model, Context& ctx);

/// Copies the parameters and buffers of rank 0's model to the models of all ranks. prepare_model() includes this.
/// Collective.
void broadcast_model(Communicator& communicator, TorchModel model);

// attach_model() and attach_optimizer() add a model or an optimizer to a State, as views: no tensor is copied. Loading a
// checkpoint writes into the model and the optimizer, which must therefore live until the train function returns.
//
// Names in the State consist of the prefix and torch's name with '/' for '.': "model/fc1/weight". Tensors must be
// contiguous, in host or GPU memory, and of a type that DType has; otherwise the functions throw a UsageError that names
// the tensor. They are not collective.

/// Adds the model's parameters as replicated tensors, and its buffers as per_rank tensors, because buffers such as
/// BatchNorm's running statistics differ between ranks.
void attach_model(State& state, TorchModel model, const std::string& prefix = "model");

/// Adds the optimizer's state of each parameter, such as "optimizer/fc1/weight/exp_avg", to `state`.
///
/// libtorch creates an optimizer's state in the optimizer's first step(). attach_optimizer() creates the same state
/// earlier, with values that give the same results, so that a checkpoint can be loaded into it. SGD, Adam and AdamW are
/// supported. Options such as the learning rate come from the config and are not added. Call attach_optimizer() after
/// prepare_model().
///
/// Throws UsageError for other optimizers, for SGD with dampening, and for a parameter that is not in `model`.
void attach_optimizer(State& state, torch::optim::Optimizer& optimizer, TorchModel model,
                      const std::string& prefix = "optimizer");

}  // namespace trainrt
