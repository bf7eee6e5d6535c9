#pragma once
#include <span>
#include <vector>

#include "frameworks/trees/lightgbm/lightgbm_library.hpp"
#include "frameworks/trees/lightgbm/lightgbm_prediction.hpp"

namespace trainrt::frameworks::trees {

/// Adds the leaf values of a model's trees to the initial scores of rows, in the same order and precision (double) as
/// training, so that the sums have the same bits.
class LeafScores {
 public:
  LeafScores(const LightgbmLibrary& library, LightgbmPrediction prediction, int trees_per_round);

  /// `scores`: rows x trees per round, row-major.
  void add(const RowBlock& block, std::span<double> scores);

 private:
  double value_of(std::size_t tree, std::size_t leaf);

  const LightgbmLibrary& library_;
  LightgbmPrediction prediction_;
  const int rounds_;
  const std::size_t trees_per_round_;
  std::vector<std::vector<double>> values_;  ///< by tree: cached values of its leaves, up to the last leaf used so far
  std::vector<double> leaves_;               ///< leaf indices of a block: rows x trees of at most 16 rounds
};

}  // namespace trainrt::frameworks::trees
