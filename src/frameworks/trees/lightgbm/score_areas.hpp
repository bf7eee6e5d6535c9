#pragma once
#include <span>

#include <trainrt/communicator.hpp>

namespace trainrt::frameworks::trees {

struct ScoreAreas {
  double auc = 1;                ///< under the ROC curve; rows of equal score count half
  double average_precision = 1;  ///< under the curve of precision over recall, by steps
};

/// Of the rows of all ranks together, positive if their label is greater than 0, as LightGBM defines both: 1 if all are of
/// one class. `weights`: empty: 1 each. Every rank gathers 12 bytes a row of all ranks. Collective.
ScoreAreas score_areas(Communicator& communicator, std::span<const double> scores, std::span<const float> labels,
                       std::span<const float> weights);

}  // namespace trainrt::frameworks::trees
