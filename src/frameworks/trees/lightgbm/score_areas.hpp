#pragma once
#include <span>

#include <trainrt/communicator.hpp>

namespace trainrt::frameworks::trees {

/// The areas under two curves of a binary classifier.
struct ScoreAreas {
  double auc = 1;                ///< area under the ROC curve; pairs with equal scores count half
  double average_precision = 1;  ///< area under the curve of precision over recall, as a step function
};

/// Computes both areas, as defined by LightGBM, over the rows of all ranks. A row is positive if its label is greater
/// than 0. Both areas are 1 if all rows have the same class. `weights` is empty if all weights are 1. Each rank gathers
/// 12 bytes for each row of all ranks. Collective.
ScoreAreas score_areas(Communicator& communicator, std::span<const double> scores, std::span<const float> labels,
                       std::span<const float> weights);

}  // namespace trainrt::frameworks::trees
