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

/// How a run stands, as its directory tells.
struct RunSummary {
  std::string run_dir;
  rundir::RunRecord record;
  rundir::RunState state = rundir::RunState::running;  ///< now; that of `record` is the last that somebody wrote
  std::vector<metrics::Record> reports;
  std::vector<checkpoint::Meta> checkpoints;
  std::vector<rundir::AttemptRecord> attempts;
  std::vector<rundir::TimeAccount> accounts;  ///< of each attempt
  std::vector<rundir::UsageSummary> usages;   ///< of each attempt: what its ranks used
  std::optional<rundir::Forecast> forecast;   ///< as long as the run is not done
  std::string contradiction = {};             ///< what in the run directory cannot be; "" = nothing
  std::string missing_end = {};               ///< why a run that finished does not hold its end; "" = it does
  std::size_t attempt_count = 0;              ///< records that can be read or not
  std::vector<rundir::ExcludedNode> excluded_nodes = {};
  std::string purge_warning = {};                   ///< its newest checkpoint will soon be removed; "" = it will not
  std::optional<rundir::MirrorStatus> mirror = {};  ///< if its checkpoints are copied elsewhere

  /// No attempt was of anything but a program that said nothing: how far it came is not known.
  bool is_silent() const;
  const metrics::Record* last() const { return reports.empty() ? nullptr : &reports.back(); }
  /// By checkpoint.score_attribute; nullptr if the run has none, or no report has it.
  const metrics::Record* best() const;
};

/// Reads the run directory. UsageError if it has no run.json.
RunSummary summary_of(const std::string& run_dir);

/// The run directories in a folder, by name. UsageError if it cannot be listed.
std::vector<std::string> run_dirs_in(const std::string& folder);

/// "87.5 %", or "unknown".
std::string goodput_text(const rundir::TimeAccount& account);

/// Returns what the figures of `account` assume, a sentence each: for the reader of a table of times.
std::vector<std::string> notes_on_time(const rundir::TimeAccount& account);

/// For programs.
nlohmann::ordered_json as_json(const RunSummary& summary);

}  // namespace trainrt::view
