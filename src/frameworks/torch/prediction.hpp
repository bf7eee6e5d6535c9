#pragma once
#include <torch/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <trainrt/context.hpp>
#include <trainrt/interop/torch.hpp>
#include <trainrt/predictions.hpp>

namespace trainrt::frameworks {

/// Loads the model's parameters and buffers from the checkpoint, and moves the model to this rank's GPU, if it has one.
/// Buffers that differ between ranks, such as BatchNorm's statistics, are those of rank 0 on all ranks, so predictions do
/// not depend on the number of ranks. Collective.
void load_model(TorchModel model, Context& ctx, const Predictions& predictions);

/// Named tensors [samples, ...] that a model computes for a batch, on any device.
using Predicted = std::vector<std::pair<std::string, torch::Tensor>>;

/// Calls `predict` for each batch of this rank, without gradients, and adds the result to `predictions`. Throws UsageError
/// for a tensor that does not have one row per sample, or whose type has no DType. Collective.
void predict_batches(Predictions& predictions, int batch_size, const std::function<Predicted(const Batch& batch)>& predict);

}  // namespace trainrt::frameworks
