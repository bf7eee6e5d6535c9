#include "named_losses.hpp"

#include <torch/nn/functional/loss.h>

#include <algorithm>
#include <array>
#include <sstream>

#include <trainrt/error.hpp>

namespace trainrt::frameworks {

namespace {

using torch::Tensor;

const std::array losses = {
    NamedLoss{"cross_entropy", true, [](const Tensor& o, const Tensor& t) { return torch::cross_entropy_loss(o, t); }},
    NamedLoss{"nll", true, [](const Tensor& o, const Tensor& t) { return torch::nll_loss_nd(o, t); }},
    NamedLoss{"mse", false, [](const Tensor& o, const Tensor& t) { return torch::mse_loss(o, t); }},
    NamedLoss{"l1", false, [](const Tensor& o, const Tensor& t) { return torch::l1_loss(o, t); }},
    NamedLoss{"smooth_l1", false, [](const Tensor& o, const Tensor& t) { return torch::smooth_l1_loss(o, t); }},
    NamedLoss{"huber", false, [](const Tensor& o, const Tensor& t) { return torch::huber_loss(o, t); }},
    NamedLoss{"bce_with_logits", false,
              [](const Tensor& o, const Tensor& t) { return torch::binary_cross_entropy_with_logits(o, t); }},
};

std::string shape_text(const Tensor& tensor) {
  std::ostringstream text;
  text << tensor.sizes();
  return text.str();
}

}  // namespace

const NamedLoss& loss_of_name(const std::string& name) {
  const auto* const found = std::ranges::find(losses, name, &NamedLoss::name);
  if (found == losses.end()) throw UsageError("unknown loss '" + name + "'");
  return *found;
}

Tensor match_target(const NamedLoss& loss, const Tensor& output, const Tensor& target) {
  if (!loss.over_classes) {
    if (output.numel() != target.numel())
      throw UsageError("the model's output has shape " + shape_text(output) + " and the target has shape " +
                       shape_text(target) + "; loss " + loss.name + " needs the same number of values in both");
    return target.to(output.scalar_type()).reshape(output.sizes());
  }
  auto wanted = output.sizes().vec();
  if (wanted.size() < 2)
    throw UsageError("the model's output has shape " + shape_text(output) + "; loss " + loss.name +
                     " needs [n, classes, ...]");
  const auto classes = wanted[1];
  wanted.erase(wanted.begin() + 1);
  const auto numbers = target.to(torch::kLong);
  std::int64_t count = 1;
  for (const auto extent : wanted) count *= extent;
  if (numbers.numel() != count)
    throw UsageError("the model's output has shape " + shape_text(output) + " and the target has shape " +
                     shape_text(target) + "; loss " + loss.name + " needs [n, classes, ...] and [n, ...]");
  const auto min = numbers.min().item<std::int64_t>(), max = numbers.max().item<std::int64_t>();
  if (min < 0 || max >= classes)
    throw UsageError("the target contains class " + std::to_string(min < 0 ? min : max) + "; the model's output has " +
                     std::to_string(classes) + " classes, so valid are 0 to " + std::to_string(classes - 1));
  return numbers.reshape(wanted);
}

}  // namespace trainrt::frameworks
