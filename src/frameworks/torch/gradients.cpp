#include "gradients.hpp"

#include <torch/nn/module.h>

#include <set>

#include <trainrt/error.hpp>

#include "attach.hpp"

namespace trainrt::frameworks {

namespace {

std::vector<std::pair<std::string, at::Tensor>> trainable(torch::nn::Module& model) {
  std::vector<std::pair<std::string, at::Tensor>> found;
  std::set<const void*> seen;
  for (const auto& item : model.named_parameters())
    if (item.value().requires_grad() && seen.insert(item.value().unsafeGetTensorImpl()).second)
      found.emplace_back(item.key(), item.value());
  if (found.empty()) throw UsageError("torch: the model has no parameter that requires a gradient");
  return found;
}

}  // namespace

Gradients::Gradients(Communicator& communicator, torch::nn::Module& model) : parameters_(trainable(model)) {
  const auto dtype = view_of(parameters_.front().second, parameters_.front().first).dtype;
  std::vector<GradientBuckets::Parameter> all;
  for (const auto& [name, parameter] : parameters_) {
    const auto own = view_of(parameter, name).dtype;
    if (own != dtype || (own != DType::f32 && own != DType::f64))
      throw UsageError("torch: parameter '" + name + "' is " + std::string(name_of(own)) + ", '" +
                       parameters_.front().first + "' " + std::string(name_of(dtype)) +
                       ": gradients are averaged where all parameters are f32, or all f64");
    all.push_back({name, static_cast<std::size_t>(parameter.numel()), own});
  }
  buckets_ = std::make_unique<GradientBuckets>(communicator, all);
  make_views();
}

/// Leaves no view of memory that goes away.
Gradients::~Gradients() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void Gradients::make_views() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    auto& parameter = parameters_[i].second;
    parameter.mutable_grad() =
        torch::from_blob(buckets_->gradient(i), parameter.sizes(), parameter.options().requires_grad(false));
  }
}

void Gradients::zero() { buckets_->zero(); }

void Gradients::average() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto& [name, parameter] = parameters_[i];
    if (!parameter.grad().defined() || parameter.grad().data_ptr() != buckets_->gradient(i))
      throw Error(
          "torch: the gradient of '" + name +
          "' was replaced and cannot be averaged over the ranks: zero it in place (Gradients::zero), never reset it");
  }
  buckets_->average();
}

}  // namespace trainrt::frameworks
