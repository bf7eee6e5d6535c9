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

/// Fills parameters and buffers from the checkpoint, and moves them where this worker computes. Buffers of which each rank
/// had its own (BatchNorm's statistics) are rank 0's on all ranks: what is predicted hangs on no number of ranks.
/// Collective.
void load_model(TorchModel model, Context& ctx, const Predictions& predictions);

/// What a model says of a batch: tensors [samples, ...] under their names, on any device.
using Predicted = std::vector<std::pair<std::string, torch::Tensor>>;

/// Calls `look` with each batch of this rank, without gradients, and hands over what it returns. Collective. UsageError for
/// a tensor without one row for each sample, or of a type that DType has not.
void predict_batches(Predictions& predictions, int batch_size, const std::function<Predicted(const Batch& batch)>& look);

}  // namespace trainrt::frameworks
