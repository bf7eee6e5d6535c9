#include "torch_test.hpp"

#include "frameworks/torch/attach.hpp"
#include "frameworks/torch/gradients.hpp"
#include "frameworks/torch/pixels.hpp"

using trainrt::State;
using namespace trainrt::frameworks;

namespace {

/// A second rank whose gradients are all zero: the mean is half of what is here.
class HalfCommunicator : public trainrt::Communicator {
 public:
  HalfCommunicator() : Communicator(0, 2) {}
  std::string_view name() const override { return "half"; }
  Ticket start(const trainrt::Collective& c) override {
    if (c.kind == trainrt::Collective::Kind::broadcast) {
      broadcast_bytes += c.buffer.bytes();
    } else {
      REQUIRE(c.kind == trainrt::Collective::Kind::all_reduce);
      REQUIRE(c.op == trainrt::Op::mean);
      for (std::size_t i = 0; i < c.buffer.count; ++i) static_cast<float*>(c.buffer.data)[i] /= 2;
    }
    return ++tickets_;
  }
  bool test(Ticket) override { return true; }
  void wait(Ticket) override {}
  std::unique_ptr<Communicator> split(int, int) override { return nullptr; }
  void start_vote(const Vote& mine) override { vote_ = mine; }
  Vote finish_vote() override { return vote_; }

  std::size_t broadcast_bytes = 0;

 private:
  Ticket tickets_ = 0;
  Vote vote_{};
};

void backward(test::Net& net) { net.forward(test::batch(0)).square().mean().backward(); }

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
  CHECK(weight.local.shape == trainrt::Shape{8, 6});
  CHECK(weight.local.dtype == trainrt::DType::f32);
  CHECK(weight.placement == trainrt::Placement::replicated);
}

TEST_CASE("buffers belong to each rank, and stay in place while they are trained") {
  test::Net net;
  State state;
  attach_model(state, net);
  const auto before = test::saved(state);
  backward(net);
  const auto after = test::saved(state);
  const auto& tracked = state.tensors().back();
  CHECK(tracked.placement == trainrt::Placement::per_rank);
  CHECK(tracked.local.dtype == trainrt::DType::i64);
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

TEST_CASE("a tensor that cannot be viewed is refused by name") {
  torch::nn::Module striped, complex;
  State state;
  striped.register_parameter("w", torch::ones({4, 3}).t());
  CHECK_THROWS_WITH(attach_model(state, striped), Catch::Contains("'model/w' is not contiguous"));
  complex.register_buffer("z", torch::ones({2}, torch::kComplexFloat));
  CHECK_THROWS_WITH(attach_model(state, complex), Catch::Contains("'model/z' has type ComplexFloat"));
}

TEST_CASE("gradients are averaged where they lie") {
  HalfCommunicator communicator;
  test::Net net;
  backward(net);
  const auto alone = net.fc1->weight.grad().clone();
  Gradients gradients(communicator, net);
  const auto* memory = net.fc1->weight.grad().data_ptr();
  for (int step = 0; step < 3; ++step) {
    gradients.zero();
    backward(net);
    gradients.average();
    CHECK(torch::equal(net.fc1->weight.grad(), alone / 2));
  }
  CHECK(net.fc1->weight.grad().data_ptr() == memory);
  CHECK(reinterpret_cast<std::uintptr_t>(net.fc2->bias.grad().data_ptr()) % 64 == 0);
}

TEST_CASE("a gradient that is no longer a view is an error, not a rank that trains alone") {
  HalfCommunicator communicator;
  test::Net net;
  Gradients gradients(communicator, net);
  net.fc2->bias.mutable_grad().reset();
  CHECK_THROWS_WITH(gradients.average(), Catch::Contains("'fc2.bias' was replaced"));
}

TEST_CASE("gradients do not outlive their memory") {
  HalfCommunicator communicator;
  test::Net net;
  { Gradients gradients(communicator, net); }
  CHECK_FALSE(net.fc1->weight.grad().defined());
}

TEST_CASE("parameters of mixed types are refused") {
  HalfCommunicator communicator;
  torch::nn::Module mixed;
  mixed.register_parameter("a", torch::ones({2}));
  mixed.register_parameter("b", torch::ones({2}, torch::kDouble));
  CHECK_THROWS_WITH(Gradients(communicator, mixed), Catch::Contains("'b' is f64, 'a' f32"));
}

TEST_CASE("a broadcast takes parameters and buffers") {
  HalfCommunicator communicator;
  test::Net net;
  broadcast_model(communicator, net);
  CHECK(communicator.broadcast_bytes == sizeof(float) * (48 + 8 + 8 + 8 + 24 + 3 + 16) + sizeof(std::int64_t));
}

TEST_CASE("pixels become the floats that ToTensor makes") {
  std::uint8_t bytes[256];
  float floats[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<std::uint8_t>(i);
  pixels_to_floats(bytes, 256, floats);
  const auto expected = torch::arange(256, torch::kFloat).div(255);
  CHECK(torch::equal(torch::from_blob(floats, {256}), expected));
}
