#include "torch_test.hpp"

#include "frameworks/torch/resnet.hpp"
#include "frameworks/torch/transformer.hpp"

using namespace trainrt;
using frameworks::Transformer;

namespace {

std::int64_t parameters_of(const torch::nn::Module& model) {
  std::int64_t count = 0;
  for (const auto& parameter : model.parameters()) count += parameter.numel();
  return count;
}

}  // namespace

TEST_CASE("resnet18 has the layers of the paper, with a 3x3 stem") {
  frameworks::ResNet18 model(1, 10);
  // The paper's 11,689,512 parameters, without ImageNet's stem (3*64*7*7) and classes (513*1000), plus this model's own.
  CHECK(parameters_of(model) == 11689512 - 3 * 64 * 49 - 513 * 1000 + 64 * 9 + 513 * 10);
  torch::NoGradGuard no_grad;
  CHECK(model.forward(torch::zeros({2, 1, 28, 28})).sizes() == torch::IntArrayRef({2, 10}));
}

TEST_CASE("a transformer has GPT-2's parameters, and its output shares the embedding") {
  const std::int64_t v = 31, t = 8, l = 3, d = 16;
  Transformer model({.vocabulary = v, .positions = t, .layers = l, .heads = 4, .width = d});
  CHECK(parameters_of(model) == v * d + t * d + l * (12 * d * d + 13 * d) + 2 * d);
  const std::int64_t small = 50257LL * 768 + 1024 * 768 + 12 * (12 * 768 * 768 + 13 * 768) + 2 * 768;
  CHECK(small == 124439808);  // the number of parameters of the smallest GPT-2
}

TEST_CASE("a transformer predicts from all earlier tokens and no later ones") {
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  Transformer model({.vocabulary = 31, .positions = 8, .layers = 2, .heads = 2, .width = 16});
  const auto tokens = torch::arange(8).unsqueeze(0);
  auto changed = tokens.clone();
  changed[0][5] = 30;
  const auto before = model.forward(tokens), after = model.forward(changed);
  REQUIRE(before.sizes() == torch::IntArrayRef({1, 8, 31}));
  CHECK(torch::equal(before.narrow(1, 0, 5), after.narrow(1, 0, 5)));
  for (int position = 5; position < 8; ++position) CHECK_FALSE(torch::equal(before[0][position], after[0][position]));
}

TEST_CASE("the loss of an untrained transformer equals that of guessing") {
  torch::manual_seed(1);
  torch::NoGradGuard no_grad;
  Transformer model({.vocabulary = 31, .positions = 8, .layers = 2, .heads = 2, .width = 16});
  const auto logits = model.forward(torch::randint(31, {16, 8})).flatten(0, 1);
  const auto loss = torch::cross_entropy_loss(logits, torch::randint(31, {16 * 8}));
  CHECK(loss.item<double>() == Approx(std::log(31.0)).epsilon(0.02));
}

TEST_CASE("a transformer with a padded vocabulary has the same parameters, loss and gradients") {
  const frameworks::TransformerShape plain{.vocabulary = 31, .positions = 8, .layers = 2, .heads = 2, .width = 16};
  auto aligned = plain;
  aligned.vocabulary_multiple = 64;
  torch::manual_seed(1);
  Transformer expected(plain);
  torch::manual_seed(1);
  Transformer padded(aligned);
  const auto tokens = torch::randint(31, {4, 8}), targets = torch::randint(31, {4 * 8});
  const auto loss_of = [&](Transformer& model) {
    return torch::cross_entropy_loss(model.forward(tokens).flatten(0, 1), targets);
  };
  const auto loss = loss_of(padded), expected_loss = loss_of(expected);
  CHECK(loss.item<double>() == Approx(expected_loss.item<double>()).epsilon(1e-6));
  loss.backward();
  expected_loss.backward();
  const auto parameters = padded.named_parameters(), expected_parameters = expected.named_parameters();
  REQUIRE(parameters.size() == expected_parameters.size());
  for (const auto& parameter : expected_parameters) {
    INFO(parameter.key());
    CHECK(torch::equal(parameters[parameter.key()], parameter.value()));
    CHECK(torch::allclose(parameters[parameter.key()].grad(), parameter.value().grad(), 1e-4, 1e-7));
  }
  const auto logits = padded.forward(tokens);
  REQUIRE(logits.size(2) == 64);
  CHECK(torch::allclose(logits.narrow(2, 0, 31), expected.forward(tokens), 1e-5, 1e-6));
  CHECK(logits.narrow(2, 31, 33).isneginf().all().item<bool>());
}

TEST_CASE("a vocabulary_multiple that divides the vocabulary does not change the bits of a transformer") {
  frameworks::TransformerShape shape{.vocabulary = 64, .positions = 8, .layers = 1, .heads = 2, .width = 16};
  torch::manual_seed(1);
  Transformer expected(shape);
  shape.vocabulary_multiple = 64;
  torch::manual_seed(1);
  Transformer padded(shape);
  const auto tokens = torch::randint(64, {4, 8});
  CHECK(torch::equal(padded.forward(tokens), expected.forward(tokens)));
}
