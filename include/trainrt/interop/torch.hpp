#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/context.hpp>
#include <trainrt/gradient_buckets.hpp>
#include <trainrt/state.hpp>

// libtorch in a train function: a program that uses it links trainrt_torch (pkg-config trainrt-torch) and libtorch.
//
//   Net net;
//   auto gradients = trainrt::prepare_model(net, ctx);                  // to the GPU, the same on all ranks, averaged
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

/// A model of either kind, a C++ module or TorchScript: what the functions below take. A reference; it is made by itself
/// and must not outlive the module.
class TorchModel {
 public:
  TorchModel(torch::nn::Module& module) : module_(&module) {}
  TorchModel(torch::jit::Module& script) : script_(&script) {}

  using Named = std::vector<std::pair<std::string, at::Tensor>>;
  /// In the module's order. A tensor of several names (tied weights) comes once, under the first of them.
  Named parameters() const;
  Named buffers() const;
  /// Moves parameters and buffers to CUDA's GPU of that number. They stay the same tensors: an optimizer keeps them.
  void to_gpu(int number) const;

 private:
  torch::nn::Module* module_ = nullptr;
  torch::jit::Module* script_ = nullptr;
};

/// The gradients of a model's parameters, averaged over the ranks. If the communicator reduces the memory that they lie
/// in, a parameter's grad is a view of a bucket (GradientBuckets), reduced in place; on a GPU that the communicator does
/// not reach, and for bf16 on the wire from a GPU, they are copied to the buckets and back. While backward() runs, each
/// bucket's reduction starts as soon as it is full (on the host: once the copies allow it), in one order on all ranks.
///
/// Holds for parameters that require a gradient when it is made, all on one device, of f64, f32, f16 or bf16, in any
/// mixture. A parameter that no backward pass used gets the mean with a gradient of zero for this rank. One step is:
/// zero(), backward() once (or several times, see accumulate), average(). It must live as long as the gradients are used;
/// then it takes them away from the parameters.
class Gradients {
 public:
  /// Collective. UsageError for a model without such parameters, and for one of them that has no plain contiguous memory.
  Gradients(Communicator& communicator, TorchModel model, const GradientOptions& options = {});
  Gradients(Gradients&&) noexcept;
  Gradients& operator=(Gradients&&) = delete;
  ~Gradients();

  /// Begins a step. It costs no pass over memory: the first backward pass overwrites, further ones add.
  void zero();
  /// true: the backward passes that follow only add up. false (as it is at first): the next one is the step's last, and
  /// starts reductions; a second such pass in a step throws UsageError out of backward().
  void accumulate(bool only);
  /// Replaces every gradient by its mean over the ranks. Collective. A grad that was replaced or reset after its backward
  /// pass is an Error that names the parameter.
  void average();
  /// After average(): scales all down to the global L2 norm `max_norm` if theirs is greater, as GradientBuckets::clip.
  /// On a GPU the host does not wait for it.
  void clip(double max_norm);
  /// Theirs before the last clip(); 0 if there was none. Waits for the GPU.
  double norm() const;

  std::size_t bucket_count() const;
  /// Of the last average(): the share of bytes that had been reduced before it, in [0, 1].
  double overlapped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Makes a model train on all ranks: moves it to this worker's first GPU, if it has one (ctx.gpus()), gives every rank
/// rank 0's parameters and buffers, and averages its gradients with the options of the run (scaling.bucket_size,
/// scaling.gradient_wire). Collective; before the first forward pass and before ctx.restore(). The result owns the
/// gradients and must live as long as the model is trained.
[[nodiscard]] Gradients prepare_model(TorchModel model, Context& ctx);

/// Gives every rank rank 0's parameters and buffers (prepare_model does). Collective.
void broadcast_model(Communicator& communicator, TorchModel model);

// What of libtorch belongs into a checkpoint, as views in a State. Nothing is copied: the model and the optimizer must live
// until the train function returns, and restoring writes straight into them. A name in the State is a prefix and the name
// that torch gives with '/' for '.': "model/fc1/weight". Tensors are contiguous, in memory of the host or of a GPU, of a
// type that DType knows; any other throws a UsageError that names the tensor.

/// Parameters as replicated tensors, buffers (BatchNorm's running statistics, which differ) as per_rank ones.
void attach_model(State& state, TorchModel model, const std::string& prefix = "model");

/// What the optimizer remembers of each parameter ("optimizer/fc1/weight/exp_avg"). libtorch makes it lazily in the first
/// step(); here it is made before, with the values that leave the same bits behind, so that a checkpoint can be loaded into
/// it. Knows SGD, Adam and AdamW; another one, SGD with dampening, or a parameter that `model` does not name: UsageError.
/// Options such as the learning rate are the config's and not attached. After prepare_model.
void attach_optimizer(State& state, torch::optim::Optimizer& optimizer, TorchModel model,
                      const std::string& prefix = "optimizer");

}  // namespace trainrt
