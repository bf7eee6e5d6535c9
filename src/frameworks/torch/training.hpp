#pragma once
#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <string>

#include <trainrt/context.hpp>
#include <trainrt/interop/torch.hpp>

#include "numerics.hpp"

namespace trainrt::frameworks {

/// The [loop] keys that the models share. torch.json declares them, with their valid values and each model's defaults.
struct TrainingSettings {
  int epochs = 0;
  int batch_size = 0;
  int accumulate = 1;  ///< backward passes per step, each over batch_size samples
  std::string optimizer;
  double lr = 0;
  double momentum = 0;
  double weight_decay = 0;
  double clip_norm = 0;        ///< 0: gradients are not clipped
  bool share_weights = false;  ///< use SharedWeights if the ranks can share memory
  Precision precision = Precision::fp32;
  torch::DeviceType device = torch::kCPU;  ///< kind of device to which `precision` applies
};

TrainingSettings training_settings(Context& ctx);

/// Applies [loop] `threads` and `precision`, allows only reproducible algorithms, and sets the random seed from which
/// models are initialized.
void prepare_torch(Context& ctx);

/// Returns [loop] `precision`.
Precision precision_of(Context& ctx);

/// Returns the device on which this rank computes: its first GPU, or the CPU.
torch::Device device_of(const Context& ctx);

/// Returns the host tensor `values` on `device`. For a GPU, `values` is first copied to pinned memory, so the caller may
/// change `values` afterwards; the function does not wait for the copy to the GPU.
torch::Tensor copy_to_device(torch::Device device, const torch::Tensor& values);

/// Lets a run stop during an evaluation. Because stop points are collective, only the batches that every rank has are stop
/// points.
class StopPoints {
 public:
  StopPoints(Context& ctx, const Dataset& data, std::size_t batch_size)
      : ctx_(ctx), left_(data.size() / (batch_size * static_cast<std::size_t>(ctx.world_size()))) {}
  /// Must be called once per batch.
  void pass() {
    if (left_ == 0) return;
    --left_;
    ctx_.stop_point();
  }

 private:
  Context& ctx_;
  std::uint64_t left_;
};

/// The model-specific parts of the training loop.
struct Task {
  TorchModel model;
  /// Returns the mean loss of `count` samples of this rank's batch, beginning with sample `first`.
  std::function<torch::Tensor(const Batch& batch, std::int64_t first, std::int64_t count)> loss;
  std::function<Metrics()> evaluate;  ///< called after every epoch; the metrics are reported
  bool draws_random_numbers = false;  ///< true for models with dropout, for example
};

/// Trains on [data.train], and after every epoch reports `loss` and the metrics of evaluate(). Stops and restarts do not
/// change the bits of the weights if the number of ranks, the model of CPU or GPU and `threads` stay the same. Collective.
void train(Context& ctx, const TrainingSettings& settings, const Task& task);

}  // namespace trainrt::frameworks
