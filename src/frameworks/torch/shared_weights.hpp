#pragma once
#include <torch/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <trainrt/communicator.hpp>
#include <trainrt/interop/torch.hpp>

namespace trainrt::frameworks {

/// One copy of a model's trained parameters and of the optimizer's state, in memory that all ranks share. In a step, each
/// rank updates its part of every tensor, instead of all tensors as with one copy per rank. The results have the same bits,
/// because SGD, Adam and AdamW compute each element from elements with the same index. This is the first stage of ZeRO
/// (Rajbhandari et al., ZeRO: Memory Optimizations Toward Training Trillion Parameter Models, SC 2020) without the
/// all-gather of the updated parameters.
class SharedWeights {
 public:
  /// Creates an optimizer for the given tensors, with the options of the model's optimizer.
  using MakeOptimizer = std::function<std::unique_ptr<torch::optim::Optimizer>(const std::vector<torch::Tensor>&)>;

  /// Moves the trained parameters of `model`, and the state of `optimizer`, to shared memory. Their values must be equal on
  /// all ranks. The tensor objects stay the same, but the addresses of their elements change, so call this before
  /// attach_model() and attach_optimizer(), and after prepare_model(). Returns nullptr if the ranks cannot share memory;
  /// nothing is moved then. `communicator`, `optimizer` and the Gradients of the model must outlive the result. Collective.
  static std::unique_ptr<SharedWeights> make(Communicator& communicator, TorchModel model,
                                             torch::optim::Optimizer& optimizer, const MakeOptimizer& make_optimizer);
  ~SharedWeights();

  /// Updates this rank's part of the parameters, and waits until all ranks have updated theirs. Must be called when the
  /// gradients have been averaged on all ranks. Collective.
  void step();

  std::size_t bytes() const;  ///< size of the shared memory

 private:
  struct Impl;
  explicit SharedWeights(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainrt::frameworks
