#pragma once
#include <torch/types.h>

#include <string>

namespace trainrt::frameworks {

/// A loss function of PyTorch, with PyTorch's name and default options.
struct NamedLoss {
  std::string name;
  bool over_classes = false;  ///< true: targets are class numbers, outputs are [n, classes, ...]
  torch::Tensor (*mean)(const torch::Tensor& output, const torch::Tensor& target) = nullptr;
};

/// Returns the loss `name`, one of torch.json's choices except `model`. Throws UsageError for another name.
const NamedLoss& loss_of_name(const std::string& name);

/// Returns `target` in the type and shape that `loss` requires for `output`. Class numbers become i64 [n, ...] for an
/// output [n, classes, ...]. For other losses, the target gets the type and shape of `output`. Throws UsageError if the
/// number of values differs or a class number is invalid.
torch::Tensor match_target(const NamedLoss& loss, const torch::Tensor& output, const torch::Tensor& target);

}  // namespace trainrt::frameworks
