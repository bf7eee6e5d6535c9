#include "fused_steps.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>
#include <torch/version.h>

#include <algorithm>
#include <vector>

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
#define TRAINRT_TORCH_FUSES 1
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#endif

namespace trainrt::frameworks {

namespace {

#ifdef TRAINRT_TORCH_FUSES

using torch::optim::Optimizer;
using torch::optim::OptimizerParamGroup;

struct GroupTensors {
  std::vector<at::Tensor> parameters, gradients;
};

/// Returns the parameters that require a gradient, with their gradients. The result is empty if one of these parameters has
/// no gradient, is not f32, or is not on a GPU.
GroupTensors tensors_of(OptimizerParamGroup& group) {
  GroupTensors tensors;
  for (auto& parameter : group.params()) {
    if (!parameter.requires_grad()) continue;
    const auto& gradient = parameter.grad();
    if (!gradient.defined() || gradient.is_sparse() || !parameter.is_cuda() || parameter.scalar_type() != at::kFloat)
      return {};
    tensors.parameters.push_back(parameter);
    tensors.gradients.push_back(gradient);
  }
  return tensors;
}

template <class State>
State* state_of(Optimizer& optimizer, const at::Tensor& parameter) {
  const auto found = optimizer.state().find(parameter.unsafeGetTensorImpl());
  return found == optimizer.state().end() ? nullptr : static_cast<State*>(found->second.get());
}

bool step_sgd(Optimizer& optimizer, OptimizerParamGroup& group, const GroupTensors& tensors) {
  const auto& options = static_cast<const torch::optim::SGDOptions&>(group.options());
  std::vector<at::Tensor> momenta;
  if (options.momentum() != 0)
    for (const auto& parameter : tensors.parameters) {
      auto* state = state_of<torch::optim::SGDParamState>(optimizer, parameter);
      if (state == nullptr) return false;
      momenta.push_back(state->momentum_buffer());
    }
  at::_fused_sgd_(tensors.parameters, tensors.gradients, momenta, options.weight_decay(), options.momentum(), options.lr(),
                  options.dampening(), options.nesterov(), /*maximize=*/false, /*is_first_step=*/false);
  return true;
}

/// The state of Adam or AdamW for the parameters of a group.
template <class ParamState>
struct Moments {
  std::vector<ParamState*> states;
  std::vector<at::Tensor> averages, squares, steps;

  /// Fills the members from the optimizer's states, and increases the step count of each state by one. Returns false,
  /// without changing a state, if a parameter has no state or if the step counts of the parameters differ.
  bool take(Optimizer& optimizer, const std::vector<at::Tensor>& parameters) {
    for (const auto& parameter : parameters) {
      auto* state = state_of<ParamState>(optimizer, parameter);
      if (state == nullptr || (!states.empty() && state->step() != states.front()->step())) return false;
      states.push_back(state);
      averages.push_back(state->exp_avg());
      squares.push_back(state->exp_avg_sq());
    }
    for (auto* state : states) state->step(state->step() + 1);
    const auto step = at::full({}, static_cast<float>(states.front()->step()), parameters.front().options());
    steps.assign(parameters.size(), step);
    return true;
  }
};

template <class Options, class ParamState, class Fused>
bool step_adam(Optimizer& optimizer, OptimizerParamGroup& group, const GroupTensors& tensors, const Fused& fused) {
  const auto& options = static_cast<const Options&>(group.options());
  Moments<ParamState> moments;
  if (options.amsgrad() || !moments.take(optimizer, tensors.parameters)) return false;
  fused(tensors.parameters, tensors.gradients, moments.averages, moments.squares, at::TensorList(), moments.steps,
        options.lr(), std::get<0>(options.betas()), std::get<1>(options.betas()), options.weight_decay(), options.eps());
  return true;
}

/// Updates the parameters of a group with fused kernels, which process many tensors at once. Returns false, without a
/// change, if these kernels do not support the optimizer or the tensors.
bool step_fused(Optimizer& optimizer, OptimizerParamGroup& group) {
  using namespace torch::optim;
  const auto tensors = tensors_of(group);
  if (tensors.parameters.empty()) return false;
  if (dynamic_cast<SGD*>(&optimizer)) return step_sgd(optimizer, group, tensors);
  if (dynamic_cast<AdamW*>(&optimizer))
    return step_adam<AdamWOptions, AdamWParamState>(optimizer, group, tensors, [](const auto&... words) {
      at::_fused_adamw_(words..., /*amsgrad=*/false, /*maximize=*/false);
    });
  if (dynamic_cast<Adam*>(&optimizer))
    return step_adam<AdamOptions, AdamParamState>(optimizer, group, tensors, [](const auto&... words) {
      at::_fused_adam_(words..., /*amsgrad=*/false, /*maximize=*/false);
    });
  return false;
}

#endif

}  // namespace

void take_step(torch::optim::Optimizer& optimizer) {
#ifdef TRAINRT_TORCH_FUSES
  at::NoGradGuard no_grad;
  if (optimizer.param_groups().size() == 1 && step_fused(optimizer, optimizer.param_groups().front())) return;
#endif
  optimizer.step();
}

}  // namespace trainrt::frameworks
