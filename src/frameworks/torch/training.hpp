#pragma once
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/interop/torch.hpp>

#include "numerics.hpp"

namespace trainrt::frameworks {

/// The [loop] keys that the models share. torch.json declares them, with the defaults of each model and what is valid.
struct TrainingSettings {
  int epochs = 0;
  int batch_size = 0;
  int accumulate = 1;  ///< backward passes of batch_size samples a step
  std::string optimizer;
  double lr = 0;
  double momentum = 0;
  double weight_decay = 0;
  double clip_norm = 0;  ///< 0: gradients are not clipped
  Precision precision = Precision::fp32;
  torch::DeviceType device = torch::kCPU;  ///< that precision is for
};

TrainingSettings training_settings(Context& ctx);

/// Sets threads and precision ([loop] `threads` and `precision`), exact algorithms, and the seed that a model is
/// initialized with.
void prepare_torch(Context& ctx);

/// Returns [loop] `precision`.
Precision precision_of(Context& ctx);

/// Where this worker computes: its first GPU, or the CPU.
torch::Device device_of(const Context& ctx);

/// Returns the host tensor `values` on `device`. The host does not wait for the copy to a GPU, and may change `values` at
/// once: they are copied into pinned memory first.
torch::Tensor sent_to(torch::Device device, const torch::Tensor& values);

/// Lets a run stop inside an evaluation: at those batches that every rank has.
class StopPoints {
 public:
  StopPoints(Context& ctx, const Dataset& data, std::size_t batch_size)
      : ctx_(ctx), left_(data.size() / (batch_size * static_cast<std::size_t>(ctx.world_size()))) {}
  /// Once a batch.
  void pass() {
    if (left_ == 0) return;
    --left_;
    ctx_.stop_point();
  }

 private:
  Context& ctx_;
  std::uint64_t left_;
};

/// What a model brings to the loop.
struct Task {
  TorchModel model;
  /// This rank's mean loss on `count` samples of the batch from `first` on.
  std::function<torch::Tensor(const Batch& batch, std::int64_t first, std::int64_t count)> loss;
  std::function<Metrics()> evaluate;  ///< after every epoch
  bool draws_random_numbers = false;  ///< as dropout does
};

/// Trains on [data.train] and reports `loss`, and what evaluate() returns, after every epoch. For the same ranks, kind of
/// processor and `threads`, the weights are the same bits however often the run was stopped and continued.
void train(Context& ctx, const TrainingSettings& settings, const Task& task);

}  // namespace trainrt::frameworks
