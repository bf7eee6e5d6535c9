#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <trainrt/error.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

/// The reported value of one metric: a real number, an integer, or a string.
using ReportedValue = std::variant<double, std::int64_t, std::string>;
/// The metrics of one report: values by metric name.
using ReportedMetrics = std::map<std::string, ReportedValue>;

/// The values of one metric in all reports, in the order of the reports:
/// - integers, if every report has an integer value of the metric;
/// - otherwise real numbers, with NaN for reports without the metric;
/// - or strings, with "" for reports without the metric.
using ReportColumn = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;

/// Converts a metric's value, a real number or integer, to a real number. Returns NaN for a string.
TRAINRT_API double as_real(const ReportedValue& value);

/// The description of a committed checkpoint of a run.
struct ResultCheckpoint {
  std::int64_t index = 0;                 ///< number of the checkpoint: NNNNNN of checkpoint_NNNNNN
  std::string path;                       ///< path of the checkpoint's directory
  bool has_files = false;                 ///< PATH/files/ holds files that report() copied from the ranks' directories
  std::int64_t iteration = 0;             ///< number of reports made before the checkpoint
  std::int64_t step = 0;                  ///< number of steps completed before the checkpoint
  std::map<std::string, double> metrics;  ///< numeric metrics of the last report before the checkpoint
  std::string metadata = "{}";            ///< JSON object from Context::checkpoint_metadata() and TrainerOptions
};

/// The state, metrics and checkpoints of a run at one moment (Ray: Result). A Result does not change when the run
/// continues.
struct TRAINRT_API Result {
  std::string run_name;
  std::string run_id;  ///< random identifier of the run, the same after restarts
  std::string path;    ///< absolute path of the run directory
  std::string state;   ///< "starting", "running", "finished", "stopped", "failed" or "killed"
  ExitCode code = ExitCode::finished;
  std::string error;        ///< error of the last attempt, with the failed rank; "" if the attempt did not fail
  int attempts = 0;         ///< number of attempts: how often the run was started
  ReportedMetrics metrics;  ///< metrics of the last report; the runtime adds those with names that start with "_"
  std::map<std::string, ReportColumn> columns;  ///< by metric name: the metric's values in all reports
  std::optional<ResultCheckpoint> checkpoint;   ///< newest existing checkpoint of the run
  /// All existing checkpoints of the run, best first. The best is determined by the metric that config key
  /// checkpoint.score_attribute names; if the key is not set, the newest checkpoint is the best.
  std::vector<ResultCheckpoint> best_checkpoints;

  /// Returns the checkpoint with the best value of metric `metric`, or nothing if no checkpoint has a number of that name.
  /// `mode` is "max" (higher is better) or "min"; any other mode throws UsageError. Not collective.
  std::optional<ResultCheckpoint> get_best_checkpoint(std::string_view metric, std::string_view mode) const;

  /// Returns the exit code for main(): 0 if the run finished, 75 if it was stopped (run the same command again to resume),
  /// 64 or 70 if it failed.
  int exit_code() const { return static_cast<int>(code); }

  /// Reads the results of a run, which may still be running, from its run directory. Throws UsageError if `run_dir` is not
  /// a run directory. Not collective.
  static Result from_path(const std::string& run_dir);
};

}  // namespace trainrt
