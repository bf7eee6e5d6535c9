#include "torch_test.hpp"

#include <trainrt/interop/torch.hpp>

#include "frameworks/torch/pixels.hpp"
#include "half_communicator.hpp"

using namespace trainrt;

namespace {

void first_backward(test::Net& net) { net.forward(test::batch(0)).square().mean().backward(); }

}  // namespace

TEST_CASE("a model's tensors are attached as views, with '/' in their names") {
  test::Net net;
  State state;
  attach_model(state, net);
  CHECK(test::names_of(state) ==
        "model/fc1/weight model/fc1/bias model/norm/weight model/norm/bias model/fc2/weight model/fc2/bias "
        "model/norm/running_mean model/norm/running_var model/norm/num_batches_tracked ");
  const auto& weight = state.tensors().front();
  CHECK(weight.local.data == net.fc1->weight.data_ptr());
  CHECK(weight.local.shape == Shape{8, 6});
  CHECK(weight.local.dtype == DType::f32);
  CHECK(weight.placement == Placement::replicated);
}

TEST_CASE("buffers belong to each rank, and stay in place while they are trained") {
  test::Net net;
  State state;
  attach_model(state, net);
  const auto before = test::saved(state);
  first_backward(net);
  const auto after = test::saved(state);
  const auto& tracked = state.tensors().back();
  CHECK(tracked.placement == Placement::per_rank);
  CHECK(tracked.local.dtype == DType::i64);
  CHECK(tracked.local.shape.empty());
  CHECK(*static_cast<std::int64_t*>(tracked.local.data) == 1);
  CHECK(before.at("model/norm/running_mean") != after.at("model/norm/running_mean"));
  CHECK(before.at("model/fc1/weight") == after.at("model/fc1/weight"));
}

TEST_CASE("tied weights are stored once") {
  torch::nn::Module model;
  auto weight = model.register_parameter("first", torch::ones({2}));
  model.register_parameter("second", weight);
  State state;
  attach_model(state, model);
  CHECK(test::names_of(state) == "model/first ");
}

TEST_CASE("a tensor that cannot be viewed is an error that names it") {
  torch::nn::Module striped, complex;
  State state;
  striped.register_parameter("w", torch::ones({4, 3}).t());
  CHECK_THROWS_WITH(attach_model(state, striped), Catch::Contains("'model/w' is not contiguous"));
  complex.register_buffer("z", torch::ones({2}, torch::kComplexFloat));
  CHECK_THROWS_WITH(attach_model(state, complex), Catch::Contains("'model/z' has type ComplexFloat"));
}

TEST_CASE("a broadcast sends parameters and buffers") {
  test::HalfCommunicator communicator;
  test::Net net;
  broadcast_model(communicator, net);
  CHECK(communicator.broadcast_bytes == sizeof(float) * (48 + 8 + 8 + 8 + 24 + 3 + 16) + sizeof(std::int64_t));
}

TEST_CASE("pixels become the same floats as with ToTensor") {
  std::uint8_t bytes[256];
  float floats[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  frameworks::pixels_to_floats(bytes, 256, floats);
  const auto expected = torch::arange(256, torch::kFloat).div(255);
  CHECK(torch::equal(torch::from_blob(floats, {256}), expected));
}
