#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"

namespace trainrt::frameworks::trees {

/// LightGBM's metrics over the rows of all ranks. The library evaluates a rank's rows; these values are combined: exactly,
/// but for the order in which a mean is summed.
class LightgbmMetrics {
 public:
  /// `booster`: that has the sets, in their order, but those of which this rank has no rows. UsageError for a metric that
  /// several ranks cannot have, which names those that they can.
  LightgbmMetrics(const LightgbmRun& run, LightgbmLibrary::Handle booster);

  /// {"valid-auc", 0.9}, ...: all sets, with all metrics. Collective.
  Evaluation evaluate(const LightgbmRun& run, LightgbmLibrary::Handle booster,
                      const std::vector<std::unique_ptr<LightgbmDataset>>& sets) const;

 private:
  enum class Kind {
    mean_of_rows,      ///< by their weights
    mean_of_any_rows,  ///< each counts 1: their weights are part of the metric
    root_mean_square,
    mean_of_queries,
    total,
    area
  };

  static Kind kind_of(std::string_view name);
  static double weight_of(const LightgbmDataset& set, Kind kind);  ///< of a rank's value
  std::vector<double> of_this_rank(const LightgbmRun& run, LightgbmLibrary::Handle booster, int at) const;
  std::vector<double> of_all_ranks(const LightgbmRun& run, LightgbmLibrary::Handle booster, const LightgbmDataset& set,
                                   int at) const;

  std::vector<std::string> names_;
  std::vector<Kind> kinds_;  ///< of several ranks
};

/// Whether more of LightGBM's metric is better, whichever set it is of.
bool is_better_if_greater_of_lightgbm(std::string_view metric);

}  // namespace trainrt::frameworks::trees
