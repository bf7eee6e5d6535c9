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
/// The metrics of one report, by name.
using ReportedMetrics = std::map<std::string, ReportedValue>;

/// One metric over all reports: integers if every report has one; otherwise real numbers, NaN for reports without it; or
/// strings, "" for reports without it.
using ReportColumn = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;

/// Returns a real number or integer as a real number; NaN for a string.
TRAINRT_API double as_real(const ReportedValue& value);

/// A committed checkpoint of a run.
struct ResultCheckpoint {
  std::int64_t index = 0;                 ///< NNNNNN of checkpoint_NNNNNN
  std::string path;                       ///< path of that directory
  bool has_files = false;                 ///< PATH/files/ holds files that report() saved from directories
  std::int64_t iteration = 0;             ///< number of reports before it
  std::int64_t step = 0;                  ///< number of steps before it
  std::map<std::string, double> metrics;  ///< numbers of the last report before it
  std::string metadata = "{}";            ///< the JSON object of Context::checkpoint_metadata() and TrainerOptions
};

/// The state, metrics and checkpoints of a run at one moment (Ray: Result). The object does not change afterwards.
struct TRAINRT_API Result {
  std::string run_name;
  std::string run_id;  ///< random identifier, made when the run first started
  std::string path;    ///< run directory, absolute
  std::string state;   ///< "starting", "running", "finished", "stopped", "failed" or "killed"
  ExitCode code = ExitCode::finished;
  std::string error;                            ///< error of the last attempt, with its rank; "" if it did not fail
  int attempts = 0;                             ///< number of times that the run was started
  ReportedMetrics metrics;                      ///< the last report; names that start with "_" are the runtime's
  std::map<std::string, ReportColumn> columns;  ///< each metric over all reports; each column has one value per report
  std::optional<ResultCheckpoint> checkpoint;   ///< the newest checkpoint that exists
  /// All existing checkpoints, best first by checkpoint.score_attribute; newest first if the run has no such attribute.
  std::vector<ResultCheckpoint> best_checkpoints;

  /// Returns the best checkpoint by a metric, or nothing if no checkpoint has a number of that name. `mode` is "max" or
  /// "min"; any other throws UsageError. Not collective.
  std::optional<ResultCheckpoint> get_best_checkpoint(std::string_view metric, std::string_view mode) const;

  /// Returns the value to return from main: 0 finished, 75 stopped (run the same command again), 64 or 70 failed.
  int exit_code() const { return static_cast<int>(code); }

  /// Reads a run directory; the run may still be running. Throws UsageError if `run_dir` is not a run directory. Not
  /// collective.
  static Result from_path(const std::string& run_dir);
};

}  // namespace trainrt
