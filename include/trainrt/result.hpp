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

/// What a report says of one metric: a real, a number that was reported as a whole one, or a text.
using ReportedValue = std::variant<double, std::int64_t, std::string>;
using ReportedMetrics = std::map<std::string, ReportedValue>;

/// One metric over all reports: whole numbers if every report has one; else reals, with NaN where a report lacks it; or
/// texts, "" there.
using ReportColumn = std::variant<std::vector<double>, std::vector<std::int64_t>, std::vector<std::string>>;

/// A number of either kind as a real; NaN for a text.
TRAINRT_API double as_real(const ReportedValue& value);

/// A committed checkpoint of a run.
struct ResultCheckpoint {
  std::int64_t index = 0;  ///< NNNNNN of checkpoint_NNNNNN
  std::string path;        ///< of that directory
  bool has_files = false;  ///< PATH/files/ has what report() was given a directory of
  std::int64_t iteration = 0;
  std::int64_t step = 0;
  std::map<std::string, double> metrics;  ///< numbers of the report that it follows
  std::string metadata = "{}";            ///< a JSON object of the program's
};

/// How a run stands, or has ended: a value, which nothing changes once it is made.
struct TRAINRT_API Result {
  std::string run_name;
  std::string run_id;  ///< random, given once
  std::string path;    ///< the run directory
  std::string state;   ///< "starting", "running", "finished", "stopped", "failed" or "killed"
  ExitCode code = ExitCode::finished;
  std::string error;                               ///< what the last attempt failed of, with its rank; "" if it did not
  int attempts = 0;                                ///< starts of the run
  ReportedMetrics metrics;                         ///< of the last report; names that begin with "_" are the runtime's own
  std::map<std::string, ReportColumn> columns;     ///< of all reports, as long as there are reports
  std::optional<ResultCheckpoint> checkpoint;      ///< the newest that is there
  std::vector<ResultCheckpoint> best_checkpoints;  ///< all that are there: the best by checkpoint.score_attribute first, or
                                                   ///< the newest

  /// The best of them by a metric; `mode`: "max" or "min". nullopt if none has a number of that name. UsageError for any
  /// other mode.
  std::optional<ResultCheckpoint> get_best_checkpoint(std::string_view metric, std::string_view mode) const;

  /// What main returns for it: 0 finished, 75 stopped (run the same command again), 70 failed.
  int exit_code() const { return static_cast<int>(code); }

  /// Of any run directory, also of a run that goes on. UsageError if it is none. Not collective.
  static Result from_path(const std::string& run_dir);
};

}  // namespace trainrt
