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

/// A reference to a model, which is a C++ module or TorchScript. Modules convert to it implicitly; it must not outlive the
/// module.
class TorchModel {
 public:
  TorchModel(torch::nn::Module& module) : module_(&module) {}
  TorchModel(torch::jit::Module& script) : script_(&script) {}

  using Named = std::vector<std::pair<std::string, at::Tensor>>;
  /// Returns the parameters with their names, in the module's order. A tensor with several names (tied weights) is
  /// returned once, with the first name.
  Named parameters() const;
  Named buffers() const;  ///< returns the buffers with their names, likewise
  /// Moves parameters and buffers to the GPU with CUDA's device number `number`. They remain the same tensor objects, so an
  /// optimizer that refers to them stays valid.
  void to_gpu(int number) const;

 private:
  torch::nn::Module* module_ = nullptr;
  torch::jit::Module* script_ = nullptr;
};

/// Averages the gradients of a model's parameters over the ranks while the backward pass runs.
///
/// One step: zero(), one or more calls of backward() (see accumulate()), average().
///
/// It covers the parameters that require a gradient when it is constructed. They must be on one device, and of type f64,
/// f32, f16 or bf16; types may be mixed. A parameter that no backward pass has used counts as a gradient of zero on this
/// rank. The reduction of each bucket starts when its gradients are complete, in the same order on all ranks.
///
/// A parameter's grad is a view of a bucket (GradientBuckets), reduced in place, if the communicator reaches the device.
/// Otherwise, and for bf16 on the wire from a GPU, gradients are copied to the buckets and back. The object must live as
/// long as the gradients are used; its destructor removes them from the parameters.
class Gradients {
 public:
  /// Throws UsageError if the model has no such parameters, or if one of them is not contiguous. Collective.
  Gradients(Communicator& communicator, TorchModel model, const GradientOptions& options = {});
  Gradients(Gradients&&) noexcept;
  Gradients& operator=(Gradients&&) = delete;
  ~Gradients();

  /// Begins a step: the next backward pass overwrites the gradients, further ones add to them. Writes no memory itself. Not
  /// collective.
  void zero();
  /// If `only` is true, the following backward passes only add gradients. If false, which is the default, the next backward
  /// pass is the last of the step and starts reductions; another one in the same step throws UsageError from backward().
  void accumulate(bool only);
  /// Replaces every gradient by its mean over the ranks. Throws Error that names the parameter if its grad was replaced or
  /// reset after the backward pass. Collective.
  void average();
  /// Scales all gradients, after average(), so that their global L2 norm is at most `max_norm`, as GradientBuckets::clip().
  /// Does not wait for the GPU. Not collective.
  void clip(double max_norm);
  /// Returns the gradients' norm before the last clip(); 0 before the first. Waits for the GPU.
  double norm() const;

  std::size_t bucket_count() const;  ///< number of buckets
  /// Returns the fraction of the gradients' bytes, 0 to 1, that was already reduced when average() was last called.
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Prepares a model for training on all ranks (Ray: ray.train.torch.prepare_model).
///
/// Moves it to this rank's first GPU (ctx.gpus()), if it has one, copies rank 0's parameters and buffers to all ranks, and
/// returns the object that averages its gradients, with the run's options scaling.bucket_size and scaling.gradient_wire.
/// Call it before the first forward pass and before ctx.restore(). The result must live as long as the model is trained.
/// Collective.
[[nodiscard]] Gradients prepare_model(TorchModel model, Context& ctx);

/// Copies rank 0's parameters and buffers to all ranks. prepare_model() does this, too. Collective.
void broadcast_model(Communicator& communicator, TorchModel model);

// The following functions add a model or an optimizer to a State, as views: nothing is copied, and loading a checkpoint
// writes into the model and the optimizer, which must live until the train function returns. Names in the State are the
// prefix and torch's name with '/' for '.': "model/fc1/weight". Tensors must be contiguous, in host or GPU memory, and of a
// type that DType has; otherwise a UsageError names the tensor. The functions are not collective.

/// Adds the model's parameters as replicated tensors, and its buffers as per_rank tensors, because buffers such as
/// BatchNorm's running statistics differ between ranks.
void attach_model(State& state, TorchModel model, const std::string& prefix = "model");

/// Adds the optimizer's state of each parameter ("optimizer/fc1/weight/exp_avg").
///
/// libtorch creates this state in the first step(). This function creates it earlier, with values that give the same
/// results, so that a checkpoint can be loaded into it. It supports SGD, Adam and AdamW. Options such as the learning rate
/// come from the config and are not added. Call it after prepare_model(). Throws UsageError for other optimizers, for SGD
/// with dampening, and for a parameter that is not in `model`.
void attach_optimizer(State& state, torch::optim::Optimizer& optimizer, TorchModel model,
                      const std::string& prefix = "optimizer");

}  // namespace trainrt
