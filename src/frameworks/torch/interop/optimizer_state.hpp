#pragma once
#include <ATen/core/Tensor.h>
#include <torch/optim/optimizer.h>

#include <memory>
#include <sstream>
#include <string>
#include <type_traits>

namespace trainrt::frameworks {

/// Returns the key under which an optimizer stores the state of `parameter`. libtorch 1.x and 2.x use different key types.
template <class Key>
Key state_key(const at::Tensor& parameter) {
  void* key = parameter.unsafeGetTensorImpl();
  if constexpr (std::is_same_v<Key, std::string>)
    return (std::ostringstream() << key).str();
  else
    return static_cast<Key>(key);
}

/// Returns the optimizer's state of `parameter`. If it does not exist, creates it and calls `fill` for it first.
template <class ParamState, class Fill>
ParamState& state_of(torch::optim::Optimizer& optimizer, const at::Tensor& parameter, Fill&& fill) {
  auto& states = optimizer.state();
  using Key = typename std::remove_cvref_t<decltype(states)>::key_type;
  auto& slot = states[state_key<Key>(parameter)];
  if (!slot) {
    auto made = std::make_unique<ParamState>();
    fill(*made);
    slot = std::move(made);
  }
  return static_cast<ParamState&>(*slot);
}

}  // namespace trainrt::frameworks
