#pragma once
#include <span>
#include <vector>

#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/lightgbm/lightgbm_prediction.hpp"

namespace trainrt::frameworks::trees {

/// Adds the trees of a model to what rows begin with, in doubles, one tree after the other, as training does: a sum in
/// another order, that of the trees first, has other bits.
class LeafScores {
 public:
  LeafScores(const LightgbmLibrary& library, LightgbmPrediction prediction, int trees_per_round);

  /// `scores`: rows x trees of a round, row-major.
  void add(const RowBlock& block, std::span<double> scores);

 private:
  double value_of(std::size_t tree, std::size_t leaf);

  const LightgbmLibrary& library_;
  LightgbmPrediction prediction_;
  const int rounds_;
  const std::size_t trees_per_round_;
  std::vector<std::vector<double>> values_;  ///< of each tree's first leaves, as far as rows have asked for them
  std::vector<double> leaves_;               ///< rows x trees of some rounds
};

}  // namespace trainrt::frameworks::trees
