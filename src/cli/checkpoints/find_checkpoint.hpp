#pragma once
#include <string>

namespace trainrt::cli {

/// Returns the absolute path of the checkpoint `path` or, if `path` is a run directory or another directory with
/// checkpoints, of its newest checkpoint. The checkpoint may be damaged. Until this process ends, symbolic links inside
/// `path` are not followed. Throws UsageError if there is no checkpoint.
std::string find_checkpoint(const std::string& path);

/// Returns the absolute path of the best checkpoint of a run. `metric` is the value of the option --best: METRIC,
/// METRIC:min or METRIC:max. If `metric` is "", the run's checkpoint.score_attribute and score_order are used. If
/// `metric` has no order, the run's score_order is used for its score_attribute, and the highest value is the best for
/// other metrics. Until this process ends, symbolic links inside `run_dir` are not followed. Throws UsageError if
/// `run_dir` is not a run directory, if no metric is known, or if no checkpoint has a value of the metric.
std::string find_best_checkpoint(const std::string& run_dir, const std::string& metric);

}  // namespace trainrt::cli
