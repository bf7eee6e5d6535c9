#include <ATen/Functions.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/types.h>
#include <torch/version.h>

#include <functional>

#include <trainrt/error.hpp>
#include <trainrt/interop/torch.hpp>

#include "views.hpp"

namespace trainrt {

namespace {

namespace autograd = torch::autograd;

/// Runs behind the node that puts a parameter's gradient in its place, once a backward pass. Exceptions leave backward().
class AfterAccumulation : public autograd::FunctionPostHook {
 public:
  explicit AfterAccumulation(std::function<void()> then) : then_(std::move(then)) {}
  autograd::variable_list operator()(const autograd::variable_list& outputs, const autograd::variable_list&) override {
    then_();
    return outputs;  // there are none
  }

 private:
  std::function<void()> then_;
};

/// Where gradients lie, and where they are reduced.
enum class Way {
  views,        ///< in the buckets
  copies,       ///< the buckets are on the same device, of another type: copied as soon as they are made
  host_copies,  ///< the buckets are on the host: copied when all are made
  alone,        ///< one rank on a GPU: nothing is reduced
};

/// A parameter, its gradient in the bucket, and what was said of it in this step.
struct Slot {
  std::string name;
  at::Tensor parameter, view;
  std::shared_ptr<autograd::Node> node;  // kept: the parameter holds it weakly
  std::uintptr_t hook = 0;
  bool is_made = false;    // by the step's last backward pass
  bool is_copied = false;  // to the bucket
};

Way way_for(Communicator& communicator, const at::Tensor& parameter, const GradientOptions& options) {
  if (parameter.is_cpu()) return Way::views;
  if (communicator.size() == 1) return Way::alone;
  if (!communicator.reaches(Device::cuda)) return Way::host_copies;
  return options.bf16_on_the_wire ? Way::copies : Way::views;
}

std::vector<Slot> slots_of(TorchModel model) {
  std::vector<Slot> slots;
  for (auto& [name, parameter] : model.parameters())
    if (parameter.requires_grad()) slots.push_back({.name = std::move(name), .parameter = std::move(parameter)});
  if (slots.empty()) throw UsageError("torch: the model has no parameter that requires a gradient");
  for (const auto& slot : slots)
    if (slot.parameter.device() != slots.front().parameter.device())
      throw UsageError("torch: parameter '" + slot.name + "' is on " + slot.parameter.device().str() + ", '" +
                       slots.front().name + "' on " + slots.front().parameter.device().str() +
                       ": gradients are averaged where all parameters are on one device");
  return slots;
}

}  // namespace

struct Gradients::Impl {
  std::vector<Slot> slots;
  Way way;
  std::unique_ptr<GradientBuckets> buckets;
  bool accumulating = false;
  at::Tensor norm;  // found by clip()

  Impl(Communicator& communicator, TorchModel model, GradientOptions options)
      : slots(slots_of(model)), way(way_for(communicator, slots.front().parameter, options)) {
    if (way != Way::alone) make_buckets(communicator, options);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto& slot = slots[i];
      if (way == Way::views) slot.parameter.mutable_grad() = slot.view;
      slot.node = autograd::impl::grad_accumulator(slot.parameter);
      slot.hook = slot.node->add_post_hook(std::make_unique<AfterAccumulation>([this, i] { made(i); }));
    }
  }

  /// Leaves no hook, and no view of memory that goes away.
  ~Impl() {
    for (auto& slot : slots) {
      slot.node->del_post_hook(slot.hook);
      slot.parameter.mutable_grad().reset();
    }
  }

  void make_buckets(Communicator& communicator, GradientOptions options) {
    const bool narrow = options.bf16_on_the_wire && way != Way::views;  // torch rounds while it copies
    if (narrow) options.bf16_on_the_wire = false;
    const auto device = slots.front().parameter.is_cuda() && way != Way::host_copies ? Device::cuda : Device::host;
    std::vector<GradientBuckets::Parameter> parameters;
    for (const auto& [name, parameter, view, node, hook, is_made, is_copied] : slots) {
      const auto dtype = frameworks::view_of(parameter, name).dtype;
      parameters.push_back({.name = name,
                            .count = static_cast<std::size_t>(parameter.numel()),
                            .dtype = narrow && dtype == DType::f32 ? DType::bf16 : dtype});
    }
    buckets = std::make_unique<GradientBuckets>(communicator, parameters, options, device);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto& parameter = slots[i].parameter;
      auto like = parameter.options().requires_grad(false);
      if (narrow && parameter.scalar_type() == at::kFloat) like = like.dtype(at::kBFloat16);
      if (device == Device::host) like = like.device(at::kCPU);
      slots[i].view = torch::from_blob(buckets->gradient(i), parameter.sizes(), like);
    }
  }

  /// After a backward pass came to the parameter. On a GPU that is in autograd's thread of the device, while the train
  /// thread waits in backward().
  void made(std::size_t number) {
    auto& slot = slots[number];
    if (!slot.parameter.grad().defined()) return;  // it came without a gradient: not used
    if (slot.is_made)
      throw UsageError("torch: a second backward pass of the step came to '" + slot.name +
                       "', whose gradient is being averaged: call accumulate(true) before all passes but the last, "
                       "and average() after it");
    if (way == Way::views) put_in_place(slot);
    if (accumulating) return;
    if (way == Way::copies) copy(slot);
    slot.is_made = true;
    if (way == Way::views || way == Way::copies) buckets->ready(number);
  }

  /// torch made a tensor of its own if there was none.
  static void put_in_place(Slot& slot) {
    auto& gradient = slot.parameter.mutable_grad();
    if (is_in_place(slot)) return;
    at::NoGradGuard no_grad;
    slot.view.copy_(gradient);
    gradient = slot.view;
  }

  static bool is_in_place(const Slot& slot) {
    const auto& gradient = slot.parameter.grad();
    return gradient.defined() && !gradient.is_sparse() && gradient.data_ptr() == slot.view.data_ptr();
  }

  static void copy(Slot& slot) {
    at::NoGradGuard no_grad;
    slot.view.copy_(slot.parameter.grad());
    slot.is_copied = true;
  }

  /// A parameter that no pass used has a gradient of zero.
  void complete(Slot& slot) {
    auto& gradient = slot.parameter.mutable_grad();
    if (!gradient.defined() && !slot.is_made)
      gradient = way == Way::views ? slot.view.zero_() : at::zeros_like(slot.parameter);
    if (!gradient.defined() || (way == Way::views && !is_in_place(slot)))
      throw Error("torch: the gradient of '" + slot.name +
                  "' was replaced and cannot be averaged over the ranks: begin a step with Gradients::zero, and leave "
                  "grad alone from backward() on");
    if ((way == Way::copies || way == Way::host_copies) && !slot.is_copied) copy(slot);
  }

  void average() {
    at::NoGradGuard no_grad;
    for (auto& slot : slots) complete(slot);
    if (buckets) buckets->average();
    for (auto& slot : slots) {
      if (slot.is_copied) slot.parameter.mutable_grad().copy_(slot.view);
      slot.is_made = slot.is_copied = false;
    }
  }

  void clip(double max_norm) {
    if (slots.front().parameter.is_cpu())
      norm = torch::tensor(buckets->clip(max_norm), torch::kDouble);
    else
      clip_on_gpu(max_norm);
  }

  /// The host waits for nothing.
  void clip_on_gpu(double max_norm) {
    if (!(max_norm > 0))
      throw UsageError("gradients can be clipped to a norm above 0 only, not " + std::to_string(max_norm));
    at::NoGradGuard no_grad;
    std::vector<at::Tensor> all;
    for (const auto& slot : slots) all.push_back(slot.parameter.grad());
    norm = at::stack(at::_foreach_norm(all, 2)).to(at::kDouble).norm();
    const auto factor = (max_norm / norm).clamp_max(1);
    scale(all, at::where(norm.isfinite(), factor, at::ones_like(factor)).to(all.front().scalar_type()));
  }

  static void scale(const std::vector<at::Tensor>& all, const at::Tensor& factor) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
    at::_foreach_mul_(all, factor);
#else
    for (const auto& gradient : all) gradient.mul_(factor);
#endif
  }
};

Gradients::Gradients(Communicator& communicator, TorchModel model, const GradientOptions& options)
    : impl_(std::make_unique<Impl>(communicator, model, options)) {}
Gradients::Gradients(Gradients&&) noexcept = default;
Gradients::~Gradients() = default;

void Gradients::zero() {
  for (auto& slot : impl_->slots) {
    if (slot.is_made)
      throw UsageError("torch: the gradient of '" + slot.name +
                       "' is being averaged: call average() before the next zero()");
    slot.parameter.mutable_grad().reset();
  }
}

void Gradients::accumulate(bool only) { impl_->accumulating = only; }

void Gradients::average() { impl_->average(); }

void Gradients::clip(double max_norm) { impl_->clip(max_norm); }

double Gradients::norm() const { return impl_->norm.defined() ? impl_->norm.item<double>() : 0; }

std::size_t Gradients::bucket_count() const { return impl_->buckets ? impl_->buckets->bucket_count() : 0; }

double Gradients::overlapped() const { return impl_->buckets ? impl_->buckets->overlapped() : 0; }

}  // namespace trainrt
