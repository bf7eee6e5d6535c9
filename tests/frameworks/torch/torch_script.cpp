#include "torch_test.hpp"

#include <torch/csrc/jit/api/module.h>

#include <trainrt/interop/torch.hpp>

#include "half_communicator.hpp"

using namespace trainrt;

namespace {

/// Returns a module that computes y = x * w + b, and counts its calls in a buffer.
torch::jit::Module line() {
  torch::jit::Module module("line");
  module.register_parameter("w", torch::full({3}, 2.0).set_requires_grad(true), false);
  module.register_parameter("b", torch::zeros({3}).set_requires_grad(true), false);
  module.register_buffer("calls", torch::zeros({}, torch::kLong));
  module.define("def forward(self, x):\n    self.calls.add_(1)\n    return x * self.w + self.b\n");
  return module;
}

}  // namespace

TEST_CASE("TorchScript trains like a C++ module") {
  test::HalfCommunicator communicator;
  auto module = line();
  Gradients gradients(communicator, module, {.bucket_bytes = 1});
  torch::optim::SGD optimizer({module.attr("w").toTensor(), module.attr("b").toTensor()},
                              torch::optim::SGDOptions(1).momentum(0.5));
  State state;
  attach_model(state, module);
  attach_optimizer(state, optimizer, module);
  CHECK(test::names_of(state) == "model/w model/b model/calls optimizer/w/momentum_buffer optimizer/b/momentum_buffer ");
  CHECK(state.tensors()[2].placement == Placement::per_rank);

  for (int step = 0; step < 3; ++step) {
    gradients.zero();
    module.forward({torch::full({3}, 4.0)}).toTensor().sum().backward();
    gradients.average();
    CHECK(gradients.overlapped() == 1);
    optimizer.step();
  }
  // The mean gradient of w is 2; with momentum it moves by 2, 3 and 3.5.
  CHECK(torch::equal(module.attr("w").toTensor(), torch::full({3}, 2 - 8.5)));
  CHECK(static_cast<const float*>(state.tensors()[0].local.data)[0] == -6.5F);
  CHECK(*static_cast<const std::int64_t*>(state.tensors()[2].local.data) == 3);
}

TEST_CASE("a broadcast sends a script's parameters and buffers") {
  test::HalfCommunicator communicator;
  auto module = line();
  broadcast_model(communicator, module);
  CHECK(communicator.broadcast_bytes == 6 * sizeof(float) + sizeof(std::int64_t));
}
