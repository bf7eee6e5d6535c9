#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"

namespace trainrt::frameworks::trees {

/// LightGBM's metrics over the rows of all ranks. The library evaluates the rows of one rank; the values of the ranks are
/// then combined. The result is exact, except for rounding.
class LightgbmMetrics {
 public:
  /// `booster` contains, in order, the datasets of which this rank has rows. Throws UsageError for a metric that is not
  /// supported on several ranks. The message names the supported metrics.
  LightgbmMetrics(const LightgbmRun& run, LightgbmLibrary::Handle booster);

  /// Returns all metrics of all datasets: {"valid-auc", 0.9}, ... Collective.
  Evaluation evaluate(const LightgbmRun& run, LightgbmLibrary::Handle booster,
                      const std::vector<std::unique_ptr<LightgbmDataset>>& sets) const;

 private:
  enum class Kind {
    mean_of_rows,             ///< weighted by the rows' weights
    mean_of_unweighted_rows,  ///< each row counts 1, because weights are part of the metric
    root_mean_square,
    mean_of_queries,
    total,
    area
  };

  static Kind kind_of(std::string_view name);
  static double weight_of(const LightgbmDataset& set, Kind kind);  ///< weight of this rank's value
  std::vector<double> of_this_rank(const LightgbmRun& run, LightgbmLibrary::Handle booster, int at) const;
  std::vector<double> of_all_ranks(const LightgbmRun& run, LightgbmLibrary::Handle booster, const LightgbmDataset& set,
                                   int at) const;

  std::vector<std::string> names_;
  std::vector<Kind> kinds_;  ///< by metric; empty with one rank
};

/// Returns whether a higher value of a metric of LightGBM is better. `metric`: with or without the name of its dataset.
/// Pure function.
bool is_better_if_greater_of_lightgbm(std::string_view metric);

}  // namespace trainrt::frameworks::trees
