#pragma once
// libtorch defines macros of glog with Catch's names. They are removed here, so that Catch's remain.
#include <torch/nn/modules/batchnorm.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#undef CHECK
#include <catch2/catch.hpp>

#include <map>
#include <string>

#include <trainrt/error.hpp>
#include <trainrt/state.hpp>

namespace trainrt::test {

/// Two layers with a BatchNorm between them: replicated parameters, and buffers of each rank.
struct Net : torch::nn::Module {
  torch::nn::Linear fc1 = register_module("fc1", torch::nn::Linear(6, 8));
  torch::nn::BatchNorm1d norm = register_module("norm", torch::nn::BatchNorm1d(8));
  torch::nn::Linear fc2 = register_module("fc2", torch::nn::Linear(8, 3));

  torch::Tensor forward(const torch::Tensor& x) { return fc2(torch::relu(norm(fc1(x)))); }
};

inline torch::Tensor batch(std::uint64_t number) {
  torch::manual_seed(1000 + number);
  return torch::randn({5, 6});
}

/// Trains one step on batch `number`. The loss omits every third output, so some gradients are zero.
inline void train_step(Net& net, torch::optim::Optimizer& optimizer, std::uint64_t number) {
  net.zero_grad();
  net.forward(batch(number)).narrow(1, 0, 2).square().mean().backward();
  optimizer.step();
}

using Bytes = std::map<std::string, std::string>;

/// Returns the bytes that a checkpoint would hold, by name.
inline Bytes saved(const trainrt::State& state) {
  Bytes bytes;
  for (const auto& entry : state.tensors())
    bytes[entry.name].assign(static_cast<const char*>(entry.local.data), entry.local.bytes());
  for (const auto& entry : state.values())
    bytes[entry.name].assign(reinterpret_cast<const char*>(std::get<std::int64_t*>(entry.value)), sizeof(std::int64_t));
  return bytes;
}

inline void load(const trainrt::State& state, const Bytes& bytes) {
  for (const auto& entry : state.tensors())
    bytes.at(entry.name).copy(static_cast<char*>(entry.local.data), entry.local.bytes());
  for (const auto& entry : state.values())
    bytes.at(entry.name).copy(reinterpret_cast<char*>(std::get<std::int64_t*>(entry.value)), sizeof(std::int64_t));
}

inline std::string names_of(const trainrt::State& state) {
  std::string names;
  for (const auto& entry : state.tensors()) names += entry.name + " ";
  for (const auto& entry : state.values()) names += entry.name + " ";
  return names;
}

}  // namespace trainrt::test
