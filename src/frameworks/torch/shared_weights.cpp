#include "shared_weights.hpp"

#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <algorithm>
#include <utility>

#include "interop/optimizer_state.hpp"

namespace trainrt::frameworks {

namespace {

using torch::optim::Optimizer;

/// Each part of a tensor begins at a multiple of this number of elements, so that vector instructions process the same
/// elements together as in an update of the complete tensor.
constexpr std::int64_t grain = 64;

/// A rank's part of a tensor: a range of its elements in row-major order. It may be empty.
struct Part {
  std::int64_t first = 0, count = 0;
};

/// Returns this rank's part of a tensor of `count` elements.
Part part_of(std::int64_t count, const Communicator& communicator) {
  const auto grains = (count + grain - 1) / grain;
  const auto begin_of = [&](int rank) { return std::min(count, grains * rank / communicator.size() * grain); };
  const auto first = begin_of(communicator.rank());
  return {first, begin_of(communicator.rank() + 1) - first};
}

at::Tensor slice(const at::Tensor& tensor, Part part) {
  return tensor.detach().view({-1}).narrow(0, part.first, part.count);
}

/// The optimizer's state of one parameter, of type `ParamState`, which attach_optimizer() has created.
template <class ParamState>
ParamState& existing_state(Optimizer& optimizer, const at::Tensor& parameter) {
  return state_of<ParamState>(optimizer, parameter, [](ParamState&) {});
}

/// How the state of one kind of optimizer is stored.
struct StateAccess {
  /// Returns the tensors of the state of a parameter.
  std::vector<at::Tensor> (*tensors)(Optimizer&, const at::Tensor& parameter);
  /// Sets the state of `parameter` in an optimizer to `tensors`.
  void (*set)(Optimizer&, const at::Tensor& parameter, const std::vector<at::Tensor>& tensors);
  /// Returns the number of steps of a parameter.
  std::int64_t (*steps)(Optimizer&, const at::Tensor& parameter);
  void (*set_steps)(Optimizer&, const at::Tensor& parameter, std::int64_t steps);
};

StateAccess access_to_sgd(bool has_momentum) {
  using torch::optim::SGDParamState;
  const auto no_steps = [](Optimizer&, const at::Tensor&) { return std::int64_t{0}; };
  const auto ignore_steps = [](Optimizer&, const at::Tensor&, std::int64_t) {};
  if (!has_momentum)
    return {[](Optimizer&, const at::Tensor&) { return std::vector<at::Tensor>(); },
            [](Optimizer&, const at::Tensor&, const std::vector<at::Tensor>&) {}, no_steps, ignore_steps};
  return {[](Optimizer& optimizer, const at::Tensor& parameter) {
            return std::vector<at::Tensor>{existing_state<SGDParamState>(optimizer, parameter).momentum_buffer()};
          },
          [](Optimizer& optimizer, const at::Tensor& parameter, const std::vector<at::Tensor>& tensors) {
            existing_state<SGDParamState>(optimizer, parameter).momentum_buffer(tensors.at(0));
          },
          no_steps, ignore_steps};
}

template <class ParamState>
StateAccess access_to_adam() {
  return {[](Optimizer& optimizer, const at::Tensor& parameter) {
            const auto& own = existing_state<ParamState>(optimizer, parameter);
            return std::vector<at::Tensor>{own.exp_avg(), own.exp_avg_sq()};
          },
          [](Optimizer& optimizer, const at::Tensor& parameter, const std::vector<at::Tensor>& tensors) {
            existing_state<ParamState>(optimizer, parameter).exp_avg(tensors.at(0)).exp_avg_sq(tensors.at(1));
          },
          [](Optimizer& optimizer, const at::Tensor& parameter) {
            return existing_state<ParamState>(optimizer, parameter).step();
          },
          [](Optimizer& optimizer, const at::Tensor& parameter, std::int64_t steps) {
            existing_state<ParamState>(optimizer, parameter).step(steps);
          }};
}

StateAccess access_to(Optimizer& optimizer) {
  using namespace torch::optim;
  if (dynamic_cast<Adam*>(&optimizer)) return access_to_adam<AdamParamState>();
  if (dynamic_cast<AdamW*>(&optimizer)) return access_to_adam<AdamWParamState>();
  return access_to_sgd(static_cast<const SGDOptions&>(optimizer.param_groups().front().options()).momentum() != 0);
}

std::size_t room_for(const at::Tensor& tensor) {
  constexpr std::size_t alignment = 64;
  return (tensor.nbytes() + alignment - 1) / alignment * alignment;
}

/// Moves the elements of `tensors`, which are equal on all ranks, to memory that the ranks share. Returns the size of this
/// memory, or 0 if the ranks cannot share memory. Collective.
std::size_t move_to_shared_memory(const std::vector<at::Tensor>& tensors, Communicator& communicator) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += room_for(tensor);
  const auto memory = communicator.allocate_shared(bytes);
  if (memory == nullptr) return 0;
  std::vector<at::Tensor> moved;
  std::size_t at = 0;
  for (const auto& tensor : tensors) {
    const auto keep = [memory](void*) {};  // the memory lives as long as a tensor refers to it
    moved.push_back(torch::from_blob(memory.get() + at, tensor.sizes(), keep, tensor.options().requires_grad(false)));
    const auto mine = part_of(tensor.numel(), communicator);
    slice(moved.back(), mine).copy_(slice(tensor, mine));
    at += room_for(tensor);
  }
  communicator.barrier("start values of the shared weights");
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].set_data(moved[i]);
  return bytes;
}

}  // namespace

struct SharedWeights::Impl {
  Communicator& communicator;
  Optimizer& optimizer;
  StateAccess access;
  std::size_t bytes = 0;
  std::vector<at::Tensor> parameters;  // complete
  std::vector<at::Tensor> parts;       // this rank's parts of those parameters of which it has one
  std::vector<std::size_t> index_of;   // for each of `parts`: index of its parameter
  std::unique_ptr<Optimizer> of_parts;

  /// Creates the optimizer that updates this rank's parts. Its tensors are views of the complete tensors.
  void make_parts(const MakeOptimizer& make_optimizer) {
    std::vector<Part> ranges;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto range = part_of(parameters[i].numel(), communicator);
      if (range.count == 0) continue;
      parts.push_back(slice(parameters[i], range));
      parts.back().mutable_grad() = slice(parameters[i].grad(), range);
      index_of.push_back(i);
      ranges.push_back(range);
    }
    // libtorch refuses an optimizer without parameters
    if (!parts.empty()) of_parts = make_optimizer(parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<at::Tensor> state;
      for (const auto& tensor : access.tensors(optimizer, parameters[index_of[i]]))
        state.push_back(slice(tensor, ranges[i]));
      access.set(*of_parts, parts[i], state);
    }
  }
};

SharedWeights::SharedWeights(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SharedWeights::~SharedWeights() = default;

std::unique_ptr<SharedWeights> SharedWeights::make(Communicator& communicator, TorchModel model, Optimizer& optimizer,
                                                   const MakeOptimizer& make_optimizer) {
  torch::NoGradGuard no_grad;
  State unused;
  attach_optimizer(unused, optimizer, model);  // creates the optimizer's state
  auto impl = std::make_unique<Impl>(Impl{communicator, optimizer, access_to(optimizer)});
  for (const auto& [name, parameter] : model.parameters())
    if (parameter.requires_grad()) impl->parameters.push_back(parameter);
  auto tensors = impl->parameters;
  for (const auto& parameter : impl->parameters)
    for (auto& tensor : impl->access.tensors(optimizer, parameter)) tensors.push_back(std::move(tensor));
  impl->bytes = move_to_shared_memory(tensors, communicator);
  if (impl->bytes == 0) return nullptr;
  impl->make_parts(make_optimizer);
  return std::unique_ptr<SharedWeights>(new SharedWeights(std::move(impl)));
}

void SharedWeights::step() {
  auto& s = *impl_;
  at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < s.parts.size(); ++i)
    s.access.set_steps(*s.of_parts, s.parts[i], s.access.steps(s.optimizer, s.parameters[s.index_of[i]]));
  if (s.of_parts) s.of_parts->step();
  for (const auto& parameter : s.parameters)
    s.access.set_steps(s.optimizer, parameter, s.access.steps(s.optimizer, parameter) + 1);
  s.communicator.barrier("update of the weights");
}

std::size_t SharedWeights::bytes() const { return impl_->bytes; }

}  // namespace trainrt::frameworks
