#pragma once
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "checkpoint/format/manifest.hpp"
#include "metrics/record.hpp"
#include "rundir/records/attempt_record.hpp"
#include "rundir/records/excluded_nodes.hpp"
#include "rundir/records/mirror_status.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/usage/forecast.hpp"
#include "rundir/usage/goodput.hpp"
#include "rundir/usage/usage_summary.hpp"

namespace trainrt::view {

/// The state, reports, attempts, checkpoints and usage of a run, read from the run directory.
struct RunSummary {
  std::string run_dir;
  rundir::RunRecord record;
  rundir::RunState state = rundir::RunState::running;  ///< current state; `record` has the state that was written last
  std::vector<metrics::Record> reports;
  std::vector<checkpoint::Meta> checkpoints;
  std::vector<rundir::AttemptRecord> attempts;
  std::vector<rundir::TimeAccount> accounts;  ///< by attempt
  std::vector<rundir::UsageSummary> usages;   ///< resource usage, by attempt
  std::optional<rundir::Forecast> forecast;   ///< nullopt if the run is done
  std::string contradiction = {};  ///< why the files of the run directory are inconsistent; "" if they are consistent
  std::string missing_end = {};    ///< why the end of a finished run is incomplete; "" if it is complete
  std::size_t attempt_count = 0;   ///< number of attempts, including those without a readable record
  std::vector<rundir::ExcludedNode> excluded_nodes = {};
  std::string purge_warning = {};                   ///< see purge_warning()
  std::optional<rundir::MirrorStatus> mirror = {};  ///< nullopt if the run has no mirror

  /// Returns whether the progress of the run is unknown: all attempts ran a program that does not report progress.
  bool is_silent() const;
  const metrics::Record* last() const { return reports.empty() ? nullptr : &reports.back(); }
  /// Returns the report with the best checkpoint.score_attribute; nullptr if the key is not set or no report has it.
  const metrics::Record* best() const;
};

/// Reads a run directory. Throws UsageError if it has no run.json.
RunSummary summary_of(const std::string& run_dir);

/// Returns the paths of the run directories in a folder, sorted by name. Throws UsageError if the folder cannot be
/// listed.
std::vector<std::string> run_dirs_in(const std::string& folder);

/// Returns the goodput as text: "87.5 %", or "unknown".
std::string goodput_text(const rundir::TimeAccount& account);

/// Returns the assumptions on which the numbers of `account` depend, one sentence each.
std::vector<std::string> notes_on_time(const rundir::TimeAccount& account);

/// Returns what a run trains, for titles: "train function linear", "program python3 train.py", or "train function loop of
/// python3 fit.py" for a function that fit() has started.
std::string train_function_text(const rundir::RunRecord& record);

/// Returns the JSON that `trainrt result --json` prints.
nlohmann::ordered_json as_json(const RunSummary& summary);

}  // namespace trainrt::view
