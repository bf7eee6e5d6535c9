#include "torch_test.hpp"

#include <torch/nn/utils/clip_grad.h>

#include <mutex>

#include <trainrt/interop/torch.hpp>

#include "half_communicator.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;

namespace {

const GradientOptions small{.bucket_bytes = 64};  // one bucket per parameter

void backward(test::Net& net, std::uint64_t batch = 0) { net.forward(test::batch(batch)).square().mean().backward(); }

/// Returns the gradients of one backward pass without trainrt.
std::vector<torch::Tensor> alone(test::Net& net, std::uint64_t batch = 0) {
  for (auto& parameter : net.parameters()) parameter.mutable_grad().reset();
  backward(net, batch);
  std::vector<torch::Tensor> gradients;
  for (auto& parameter : net.parameters()) {
    gradients.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
  return gradients;
}

void check_gradients(test::Net& net, const std::vector<torch::Tensor>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("parameter " << i);
    CHECK(torch::equal(net.parameters()[i].grad(), expected[i]));
  }
}

std::vector<torch::Tensor> halves(std::vector<torch::Tensor> all) {
  for (auto& tensor : all) tensor = tensor / 2;
  return all;
}

}  // namespace

TEST_CASE("gradients are averaged in place in every step") {
  test::HalfCommunicator communicator;
  test::Net net;
  const auto expected = halves(alone(net));
  Gradients gradients(communicator, net);
  const auto* memory = net.fc1->weight.grad().data_ptr();
  for (int step = 0; step < 3; ++step) {
    gradients.zero();
    backward(net);
    CHECK(net.fc1->weight.grad().data_ptr() == memory);
    gradients.average();
    check_gradients(net, expected);
  }
  CHECK(net.fc1->weight.grad().data_ptr() == memory);
  CHECK(reinterpret_cast<std::uintptr_t>(net.fc2->bias.grad().data_ptr()) % 64 == 0);
}

TEST_CASE("reductions start during the backward pass, with the last parameter") {
  test::HalfCommunicator communicator;
  test::Net net;
  Gradients gradients(communicator, net, small);
  backward(net);
  REQUIRE(communicator.started.size() == gradients.bucket_count());
  CHECK(communicator.started.front() == "bucket 0 (fc2.bias)");
  CHECK(communicator.started.back() == "bucket 5 (fc1.weight)");
  gradients.average();
  CHECK(gradients.overlapped() == 1);
}

TEST_CASE("backward passes accumulate, and only the last one starts reductions") {
  test::HalfCommunicator communicator;
  test::Net net;
  auto expected = alone(net, 1);
  const auto second = alone(net, 2);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = (expected[i] + second[i]) / 2;
  Gradients gradients(communicator, net, small);
  for (int step = 0; step < 2; ++step) {
    gradients.zero();
    gradients.accumulate(true);
    backward(net, 1);
    CHECK(communicator.started.empty());
    gradients.accumulate(false);
    backward(net, 2);
    CHECK(communicator.started.size() == 6);
    gradients.average();
    check_gradients(net, expected);
    communicator.started.clear();
  }
}

TEST_CASE("a second backward pass without accumulate(true) is an error that names the call") {
  test::HalfCommunicator communicator;
  test::Net net;
  Gradients gradients(communicator, net);
  backward(net);
  CHECK_THROWS_WITH(backward(net),
                    Catch::Contains("Call accumulate(true) before every backward pass of a step except the last"));
  CHECK_THROWS_WITH(gradients.zero(), Catch::Contains("Call average() before"));
}

TEST_CASE("parameters that no pass used have a gradient of zero and work in the next step") {
  test::HalfCommunicator communicator;
  test::Net net;
  const auto expected = halves(alone(net));
  Gradients gradients(communicator, net, small);
  backward(net);
  gradients.average();
  gradients.zero();
  net.fc2(torch::ones({2, 8})).sum().backward();
  gradients.average();
  CHECK(torch::equal(net.fc1->weight.grad(), torch::zeros({8, 6})));
  CHECK(torch::equal(net.fc2->bias.grad(), torch::ones({3})));
  gradients.zero();
  backward(net);
  gradients.average();
  check_gradients(net, expected);
}

TEST_CASE("gradients are averaged although ranks use different parameters") {
  std::mutex mutex;
  test::run_ranks(2, [&](Communicator& communicator) {
    torch::nn::Linear used_by_both(3, 2), used_by_one(3, 2);
    torch::nn::Module model;
    model.register_module("both", used_by_both);
    model.register_module("one", used_by_one);
    Gradients gradients(communicator, model, small);
    for (int step = 0; step < 3; ++step) {
      gradients.zero();
      auto y = used_by_both(torch::full({1, 3}, communicator.rank() + 1.0));
      if (communicator.rank() == 1) y = y + used_by_one(torch::ones({1, 3}));
      y.sum().backward();
      gradients.average();
      const std::scoped_lock lock(mutex);
      CHECK(torch::equal(used_by_both->weight.grad(), torch::full({2, 3}, 1.5)));
      CHECK(torch::equal(used_by_one->weight.grad(), torch::full({2, 3}, 0.5)));
    }
  });
}

TEST_CASE("a gradient that is replaced after its backward pass is an error") {
  for (const bool reset : {true, false}) {
    test::HalfCommunicator communicator;
    test::Net net;
    Gradients gradients(communicator, net);
    gradients.zero();
    backward(net);
    auto& gradient = net.fc2->bias.mutable_grad();
    gradient = reset ? torch::Tensor() : gradient.clone();
    CHECK_THROWS_WITH(gradients.average(), Catch::Contains("'fc2.bias' was replaced"));
  }
}

TEST_CASE("gradients that an optimizer resets are averaged in the next step") {
  test::HalfCommunicator communicator;
  test::Net net;
  const auto expected = halves(alone(net));
  Gradients gradients(communicator, net);
  for (auto& parameter : net.parameters()) parameter.mutable_grad().reset();
  backward(net);
  gradients.average();
  check_gradients(net, expected);
}

TEST_CASE("destroyed gradients leave no view of their memory and no hook") {
  test::HalfCommunicator communicator;
  test::Net net;
  const auto expected = alone(net);
  { Gradients gradients(communicator, net); }
  CHECK_FALSE(net.fc1->weight.grad().defined());
  backward(net);
  check_gradients(net, expected);
  CHECK(communicator.started.empty());
}

TEST_CASE("parameters of several types are averaged, each in its own type") {
  test::HalfCommunicator communicator;
  torch::nn::Module mixed;
  std::vector<torch::Tensor> parameters;
  for (const auto type : {torch::kFloat, torch::kDouble, torch::kBFloat16, torch::kHalf})
    parameters.push_back(mixed.register_parameter(c10::toString(type), torch::ones({5}, type)));
  Gradients gradients(communicator, mixed);
  CHECK(gradients.bucket_count() == 4);
  auto sum = torch::zeros({}, torch::kDouble);
  for (const auto& parameter : parameters) sum = sum + parameter.to(torch::kDouble).sum() * 3;
  sum.backward();
  gradients.average();
  for (const auto& parameter : parameters) CHECK(torch::equal(parameter.grad(), torch::full_like(parameter, 1.5)));
}

TEST_CASE("gradients are clipped as in torch, after averaging") {
  test::HalfCommunicator communicator;
  test::Net net, other;
  Gradients gradients(communicator, net);
  backward(net);
  gradients.average();
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    other.parameters()[i].mutable_grad() = net.parameters()[i].grad().clone();
  const auto expected = torch::nn::utils::clip_grad_norm_(other.parameters(), 0.01);
  CHECK(gradients.norm() == 0);
  gradients.clip(0.01);
  CHECK(gradients.norm() == Approx(expected).epsilon(1e-5));
  for (std::size_t i = 0; i < net.parameters().size(); ++i)
    CHECK(torch::allclose(net.parameters()[i].grad(), other.parameters()[i].grad(), 1e-4, 1e-9));
}

TEST_CASE("a model without trainable parameters is an error") {
  test::HalfCommunicator communicator;
  torch::nn::Module empty;
  CHECK_THROWS_WITH(Gradients(communicator, empty), Catch::Contains("no parameter that requires a gradient"));
}
