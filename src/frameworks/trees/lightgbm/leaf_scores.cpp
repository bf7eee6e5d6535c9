#include "frameworks/trees/lightgbm/leaf_scores.hpp"

#include <algorithm>
#include <utility>

namespace trainrt::frameworks::trees {

LeafScores::LeafScores(const LightgbmLibrary& library, LightgbmPrediction prediction, int trees_per_round)
    : library_(library),
      prediction_(std::move(prediction)),
      rounds_(prediction_.rounds),
      trees_per_round_(static_cast<std::size_t>(trees_per_round)),
      values_(static_cast<std::size_t>(rounds_) * trees_per_round_) {
  prediction_.kind = LightgbmLibrary::leaf_index;
}

void LeafScores::add(const RowBlock& block, std::span<double> scores) {
  constexpr int rounds_at_once = 16;  // limits memory: the leaf indices of all rounds may need more than the rows
  for (int first = 0; first < rounds_; first += rounds_at_once) {
    prediction_.first_round = first;
    prediction_.rounds = std::min(rounds_at_once, rounds_ - first);
    const auto trees = static_cast<std::size_t>(prediction_.rounds) * trees_per_round_;
    leaves_.resize(block.rows * trees);
    library_.check(predict_block(library_, prediction_, block, leaves_.data()));
    const auto first_tree = static_cast<std::size_t>(first) * trees_per_round_;
    for (std::size_t row = 0; row < block.rows; ++row)
      for (std::size_t k = 0; k < trees; ++k)
        scores[row * trees_per_round_ + k % trees_per_round_] +=
            value_of(first_tree + k, static_cast<std::size_t>(leaves_[row * trees + k]));
  }
}

double LeafScores::value_of(std::size_t tree, std::size_t leaf) {
  auto& values = values_[tree];
  while (values.size() <= leaf) {
    double value = 0;
    library_.check(library_.leaf_value(prediction_.model, static_cast<int>(tree), static_cast<int>(values.size()), &value));
    values.push_back(value);
  }
  return values[leaf];
}

}  // namespace trainrt::frameworks::trees
