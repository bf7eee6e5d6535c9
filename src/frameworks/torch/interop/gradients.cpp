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

/// Calls a function after autograd has stored or added a parameter's gradient, once per backward pass. Exceptions of the
/// function are thrown by backward().
class AfterAccumulation : public autograd::FunctionPostHook {
 public:
  explicit AfterAccumulation(std::function<void()> then) : then_(std::move(then)) {}
  autograd::variable_list operator()(const autograd::variable_list& outputs, const autograd::variable_list&) override {
    then_();
    return outputs;  // empty
  }

 private:
  std::function<void()> then_;
};

/// How a gradient is transferred to the bucket in which it is reduced.
enum class Transport {
  views,        ///< each gradient is a view of a bucket
  copies,       ///< the buckets are on the same device in bf16; each gradient is copied as soon as it is complete
  host_copies,  ///< the buckets are in host memory; gradients are copied when all of them are complete
  no_buckets,   ///< one rank on a GPU: nothing is reduced
};

/// A parameter, the part of a bucket that holds its gradient, and the state of that gradient in this step.
struct Slot {
  std::string name;
  at::Tensor parameter, view;
  decltype(autograd::impl::grad_accumulator(
      {})) node;  // accumulates the gradient; owned here, because the parameter has only a weak pointer to the node
  std::uintptr_t hook = 0;
  bool is_complete = false;  // the step's last backward pass has added to the gradient
  bool is_copied = false;    // the gradient was copied to the bucket
};

Transport transport_for(Communicator& communicator, const at::Tensor& parameter, const GradientOptions& options) {
  if (parameter.is_cpu()) return Transport::views;
  if (communicator.size() == 1) return Transport::no_buckets;
  if (!communicator.reaches(Device::cuda)) return Transport::host_copies;
  return options.bf16_on_the_wire ? Transport::copies : Transport::views;
}

std::vector<Slot> slots_of(TorchModel model) {
  std::vector<Slot> slots;
  for (auto& [name, parameter] : model.parameters())
    if (parameter.requires_grad()) slots.push_back({.name = std::move(name), .parameter = std::move(parameter)});
  if (slots.empty())
    throw UsageError(
        "torch: the model has no parameter that requires a gradient; set requires_grad for the parameters to train");
  for (const auto& slot : slots)
    if (slot.parameter.device() != slots.front().parameter.device())
      throw UsageError("torch: parameter '" + slot.name + "' is on device " + slot.parameter.device().str() + " and '" +
                       slots.front().name + "' on " + slots.front().parameter.device().str() +
                       ". Move all parameters to one device, so that their gradients can be averaged");
  return slots;
}

}  // namespace

struct Gradients::Impl {
  std::vector<Slot> slots;
  Transport transport;
  std::unique_ptr<GradientBuckets> buckets;
  bool accumulating = false;
  at::Tensor norm;  // computed by clip()

  Impl(Communicator& communicator, TorchModel model, GradientOptions options)
      : slots(slots_of(model)), transport(transport_for(communicator, slots.front().parameter, options)) {
    if (transport != Transport::no_buckets) make_buckets(communicator, options);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      auto& slot = slots[i];
      if (transport == Transport::views) slot.parameter.mutable_grad() = slot.view;
      slot.node = autograd::impl::grad_accumulator(slot.parameter);
      slot.hook = slot.node->add_post_hook(std::make_unique<AfterAccumulation>([this, i] { gradient_added(i); }));
    }
  }

  /// Removes the hooks, and the gradients, which are views of memory that the buckets free.
  ~Impl() {
    for (auto& slot : slots) {
      slot.node->del_post_hook(slot.hook);
      slot.parameter.mutable_grad().reset();
    }
  }

  void make_buckets(Communicator& communicator, GradientOptions options) {
    const bool narrow = options.bf16_on_the_wire && transport != Transport::views;  // torch rounds to bf16 when it copies
    if (narrow) options.bf16_on_the_wire = false;
    const auto device =
        slots.front().parameter.is_cuda() && transport != Transport::host_copies ? Device::cuda : Device::host;
    std::vector<GradientBuckets::Parameter> parameters;
    for (const auto& [name, parameter, view, node, hook, is_complete, is_copied] : slots) {
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

  /// Called when a backward pass has computed the gradient of parameter `number`. For a GPU, autograd's thread of the
  /// device calls it, while the train thread waits in backward().
  void gradient_added(std::size_t number) {
    auto& slot = slots[number];
    if (!slot.parameter.grad().defined()) return;  // the backward pass did not use the parameter
    if (slot.is_complete)
      throw UsageError("torch: another backward pass has reached parameter '" + slot.name +
                       "' while its gradient is being averaged. Call accumulate(true) before every backward pass of a "
                       "step except the last, and average() after the last");
    if (transport == Transport::views) move_to_bucket(slot);
    if (accumulating) return;
    if (transport == Transport::copies) copy(slot);
    slot.is_complete = true;
    if (transport == Transport::views || transport == Transport::copies) buckets->ready(number);
  }

  /// Moves a gradient that torch allocated itself to its part of the bucket.
  static void move_to_bucket(Slot& slot) {
    auto& gradient = slot.parameter.mutable_grad();
    if (is_in_bucket(slot)) return;
    at::NoGradGuard no_grad;
    slot.view.copy_(gradient);
    gradient = slot.view;
  }

  static bool is_in_bucket(const Slot& slot) {
    const auto& gradient = slot.parameter.grad();
    return gradient.defined() && !gradient.is_sparse() && gradient.data_ptr() == slot.view.data_ptr();
  }

  static void copy(Slot& slot) {
    at::NoGradGuard no_grad;
    slot.view.copy_(slot.parameter.grad());
    slot.is_copied = true;
  }

  /// Prepares a gradient for average(). If no backward pass used the parameter, its gradient is zero.
  void prepare(Slot& slot) {
    auto& gradient = slot.parameter.mutable_grad();
    if (!gradient.defined() && !slot.is_complete)
      gradient = transport == Transport::views ? slot.view.zero_() : at::zeros_like(slot.parameter);
    if (!gradient.defined() || (transport == Transport::views && !is_in_bucket(slot)))
      throw Error("torch: the grad tensor of '" + slot.name +
                  "' was replaced, so it cannot be averaged over the ranks. Begin each step with Gradients::zero, and do "
                  "not assign or reset grad after backward()");
    if ((transport == Transport::copies || transport == Transport::host_copies) && !slot.is_copied) copy(slot);
  }

  void average() {
    at::NoGradGuard no_grad;
    for (auto& slot : slots) prepare(slot);
    if (buckets) buckets->average();
    for (auto& slot : slots) {
      if (slot.is_copied) slot.parameter.mutable_grad().copy_(slot.view);
      slot.is_complete = slot.is_copied = false;
    }
  }

  void clip(double max_norm) {
    if (slots.front().parameter.is_cpu())
      norm = torch::tensor(buckets->clip(max_norm), torch::kDouble);
    else
      clip_on_gpu(max_norm);
  }

  /// Clips the gradients to the norm `max_norm`. Computes the factor on the GPU, so the CPU does not wait for the GPU.
  void clip_on_gpu(double max_norm) {
    if (!(max_norm > 0))
      throw UsageError("cannot clip gradients to a norm of " + std::to_string(max_norm) +
                       "; the maximum norm must be above 0");
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
    if (slot.is_complete)
      throw UsageError("torch: zero() was called while the gradient of '" + slot.name +
                       "' is being averaged. Call average() before the next zero()");
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
