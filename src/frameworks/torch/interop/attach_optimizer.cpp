#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <functional>
#include <map>

#include <trainrt/error.hpp>
#include <trainrt/interop/torch.hpp>

#include "optimizer_state.hpp"
#include "views.hpp"

namespace trainrt {

namespace {

using frameworks::state_name;
using frameworks::state_of;
using frameworks::view_of;
using torch::optim::Optimizer;
using torch::optim::OptimizerOptions;

/// Adds the optimizer's state of one parameter to a State under `name`. Creates that state first if it does not exist.
using AttachParameter =
    std::function<void(State&, Optimizer&, const OptimizerOptions&, const at::Tensor&, const std::string&)>;

/// libtorch creates the momentum buffer in the first step, as a copy of the gradient. If the buffer already exists, the
/// step computes momentum * buffer + gradient instead. This has the same bits only if the buffer is -0.0, because
/// adding 0.0 would change a gradient of -0.0 to 0.0.
void attach_sgd(State& state, Optimizer& optimizer, const OptimizerOptions& all, const at::Tensor& parameter,
                const std::string& name) {
  using torch::optim::SGDParamState;
  const auto& options = static_cast<const torch::optim::SGDOptions&>(all);
  if (options.momentum() == 0) return;
  if (options.dampening() != 0)
    throw UsageError("torch: SGD with dampening " + std::to_string(options.dampening()) +
                     " cannot resume from a checkpoint with the same results. Use dampening 0");
  auto& own = state_of<SGDParamState>(
      optimizer, parameter, [&](SGDParamState& made) { made.momentum_buffer(torch::full_like(parameter, -0.0).detach()); });
  state.tensor(name + "/momentum_buffer", view_of(own.momentum_buffer(), name + "/momentum_buffer"));
}

template <class Options, class ParamState>
void attach_adam(State& state, Optimizer& optimizer, const OptimizerOptions& all, const at::Tensor& parameter,
                 const std::string& name) {
  const bool amsgrad = static_cast<const Options&>(all).amsgrad();
  auto& own = state_of<ParamState>(optimizer, parameter, [&](ParamState& made) {
    made.step(0);
    made.exp_avg(torch::zeros_like(parameter).detach());
    made.exp_avg_sq(torch::zeros_like(parameter).detach());
    if (amsgrad) made.max_exp_avg_sq(torch::zeros_like(parameter).detach());
  });
  state.value(name + "/step", own.step());
  state.tensor(name + "/exp_avg", view_of(own.exp_avg(), name + "/exp_avg"));
  state.tensor(name + "/exp_avg_sq", view_of(own.exp_avg_sq(), name + "/exp_avg_sq"));
  if (amsgrad) state.tensor(name + "/max_exp_avg_sq", view_of(own.max_exp_avg_sq(), name + "/max_exp_avg_sq"));
}

AttachParameter attacher_of(const Optimizer& optimizer) {
  using namespace torch::optim;
  if (dynamic_cast<const SGD*>(&optimizer)) return attach_sgd;
  if (dynamic_cast<const Adam*>(&optimizer)) return attach_adam<AdamOptions, AdamParamState>;
  if (dynamic_cast<const AdamW*>(&optimizer)) return attach_adam<AdamWOptions, AdamWParamState>;
  throw UsageError("torch: this optimizer cannot be saved in checkpoints; supported are SGD, Adam and AdamW");
}

std::map<const void*, std::string> names_of(TorchModel model) {
  std::map<const void*, std::string> names;
  for (const auto& [name, parameter] : model.parameters()) names.emplace(parameter.unsafeGetTensorImpl(), name);
  return names;
}

}  // namespace

void attach_optimizer(State& state, Optimizer& optimizer, TorchModel model, const std::string& prefix) {
  const auto attach = attacher_of(optimizer);
  const auto names = names_of(model);
  torch::NoGradGuard no_grad;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (!parameter.requires_grad()) continue;  // the optimizer does not update it
      const auto found = names.find(parameter.unsafeGetTensorImpl());
      if (found == names.end())
        throw UsageError("torch: the optimizer has a parameter of shape " + to_string(parameter.sizes().vec()) +
                         " that the model does not have, so its state cannot be named. Create the optimizer from "
                         "model.parameters()");
      attach(state, optimizer, group.options(), parameter, state_name(prefix, found->second));
    }
  }
}

}  // namespace trainrt
