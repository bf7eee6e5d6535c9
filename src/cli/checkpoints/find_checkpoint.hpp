#pragma once
#include <string>

namespace trainrt::cli {

/// Returns the absolute path of the checkpoint `path` or, if `path` is a run directory or another directory with
/// checkpoints, of its newest checkpoint. The checkpoint may be damaged. Until this process ends, symbolic links inside
/// `path` are not followed. Throws UsageError if there is no checkpoint.
std::string find_checkpoint(const std::string& path);

/// Returns the absolute path of the best checkpoint of a run. `metric` is the value of the option --best: METRIC,
/// METRIC:min or METRIC:max. If it is "", the run's checkpoint.score_attribute and score_order are used. Without an order,
/// the run's score_order is used if METRIC is its score_attribute; else the highest value is the best. Symbolic links are
/// treated as in find_checkpoint(). Throws UsageError if `run_dir` is not a run directory, or if no checkpoint can be the
/// best one: no metric is known, or no checkpoint has that metric.
std::string find_best_checkpoint(const std::string& run_dir, const std::string& metric);

}  // namespace trainrt::cli
