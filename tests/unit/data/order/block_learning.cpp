// Checks that training learns from files sorted by class if their blocks are shuffled.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <trainrt/random.hpp>
#include <vector>

#include "data/order/epoch_order.hpp"

using namespace trainrt;
using data::EpochOrder;

namespace {

constexpr std::size_t classes = 10, features = 16, samples = 20000;

struct Sample {
  std::array<double, features> x;
  std::size_t label;
};

/// Samples of overlapping classes, sorted by class.
std::vector<Sample> sorted_samples() {
  Random random(11, 0);
  std::array<std::array<double, features>, classes> centres{};
  for (auto& centre : centres)
    for (auto& value : centre) value = random.normal();
  std::vector<Sample> all(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    all[i].label = i * classes / samples;
    for (std::size_t f = 0; f < features; ++f) all[i].x[f] = centres[all[i].label][f] + 1.5 * random.normal();
  }
  return all;
}

/// Softmax regression by gradient descent, one sample per step.
class Model {
 public:
  void learn(const Sample& sample) {
    auto scores = scores_of(sample);
    double sum = 0;
    for (auto& score : scores) sum += score = std::exp(score);
    for (std::size_t c = 0; c < classes; ++c) {
      const auto error = scores[c] / sum - (c == sample.label ? 1.0 : 0.0);
      for (std::size_t f = 0; f < features; ++f) weights_[c][f] -= 0.01 * error * sample.x[f];
    }
  }
  std::size_t class_of(const Sample& sample) const {
    const auto scores = scores_of(sample);
    return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }

 private:
  std::array<double, classes> scores_of(const Sample& sample) const {
    std::array<double, classes> scores{};
    for (std::size_t c = 0; c < classes; ++c)
      for (std::size_t f = 0; f < features; ++f) scores[c] += weights_[c][f] * sample.x[f];
    return scores;
  }
  std::array<std::array<double, features>, classes> weights_{};
};

/// Returns the percentage of samples classified correctly after two epochs.
template <class Order>
double accuracy(const std::vector<Sample>& all, const Order& order_of) {
  Model model;
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    const auto order = order_of(epoch);
    for (std::uint64_t at = 0; at < samples; ++at) model.learn(all[order[at]]);
  }
  std::size_t right = 0;
  for (const auto& sample : all) right += model.class_of(sample) == sample.label ? 1 : 0;
  return 100.0 * static_cast<double>(right) / samples;
}

}  // namespace

TEST_CASE("training on files that are sorted by class learns as much in blocks as in a complete shuffle") {
  const auto all = sorted_samples();
  const auto global = accuracy(all, [](auto epoch) { return EpochOrder::shuffled(samples, 70 + epoch); });
  const auto in_blocks = accuracy(all, [](auto epoch) { return EpochOrder::in_blocks(samples, 70 + epoch, {16, 128}); });
  const auto few_blocks = accuracy(all, [](auto epoch) { return EpochOrder::in_blocks(samples, 70 + epoch, {1024, 2}); });
  const auto unshuffled = accuracy(all, [](auto) { return EpochOrder::identity(samples); });
  CAPTURE(global, in_blocks, few_blocks, unshuffled);
  CHECK(in_blocks > global - 1.5);
  CHECK(few_blocks < global - 3);  // otherwise the data cannot distinguish the orders
  CHECK(unshuffled < global - 10);
}
