#pragma once
#include <torch/types.h>

#include <string>

namespace trainrt::frameworks {

/// A loss of PyTorch by its name there, with the defaults there.
struct NamedLoss {
  std::string name;
  bool over_classes = false;  ///< the targets are numbers of classes, the outputs [n, classes, ...]
  torch::Tensor (*mean)(const torch::Tensor& output, const torch::Tensor& target) = nullptr;
};

/// The name is one of torch.json's choices, other than `model`.
const NamedLoss& loss_of_name(const std::string& name);

/// The target as the loss takes it beside that output: class numbers as i64 without axes of length 1 that the output does
/// not have; else of the output's type and shape, if it has as many numbers. UsageError if it does not fit.
torch::Tensor fitted(const NamedLoss& loss, const torch::Tensor& output, const torch::Tensor& target);

}  // namespace trainrt::frameworks
