// The implementation of Result, which reads the records of a run directory.
#include <trainrt/result.hpp>

#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/retention.hpp"
#include "core/files/similar_directory.hpp"
#include "io/files/file.hpp"
#include "metrics/result_log.hpp"
#include "metrics/typed_columns.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/ending/reported_metrics.hpp"

namespace trainrt {

namespace {

ResultCheckpoint of_run(const std::string& run_dir, const checkpoint::Meta& meta) {
  return {meta.number,        run_dir + "/" + checkpoint::directory_name(meta.number),
          meta.has_directory, meta.iteration,
          meta.step,          meta.metrics,
          meta.metadata};
}

std::string text_of(const rundir::RunRecord& record, const std::string& key) {
  const auto found = record.spec.find(key);
  return found == record.spec.end() ? std::string() : found->second;
}

void read_reports(Result& result) {
  const auto records = metrics::read_results(result.path);
  for (auto& column : metrics::typed_columns(records)) result.columns.emplace(column.key, std::move(column.values));
  if (!records.empty()) result.metrics = trainer::reported_metrics(records.back());
}

void read_checkpoints(Result& result, const rundir::RunRecord& record) {
  const auto metas = checkpoint::list(result.path);
  if (metas.empty()) return;
  result.checkpoint = of_run(result.path, metas.back());
  const checkpoint::Retention ranking{0, text_of(record, "checkpoint.score_attribute"),
                                      text_of(record, "checkpoint.score_order") != "min"};
  for (const auto& meta : checkpoint::best_first(metas, ranking))
    result.best_checkpoints.push_back(of_run(result.path, meta));
}

/// Returns the exit code of a run in state `state`. The exit code of the last attempt is used only if it agrees with
/// `state`, since the attempt's record may be missing or wrong.
ExitCode code_of(rundir::RunState state, const std::vector<rundir::AttemptRecord>& attempts) {
  using rundir::RunState;
  if (state == RunState::finished) return ExitCode::finished;
  const int last = attempts.empty() ? -1 : attempts.back().exit_code;
  if (state == RunState::stopped) return last == static_cast<int>(ExitCode::failed) ? ExitCode::failed : ExitCode::stopped;
  return state == RunState::failed && last == static_cast<int>(ExitCode::usage) ? ExitCode::usage : ExitCode::failed;
}

/// Returns the content of error.txt without the time at its beginning. error.txt has a text such as
/// "2026-11-22T10:00:00Z rank 0 on n1 failed ...".
std::string error_of(const std::string& run_dir) {
  const auto path = run_dir + "/error.txt";
  if (!io::exists(path)) return {};
  auto text = io::read_file(path);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto space = text.find(' ');
  return space == std::string::npos ? text : text.substr(space + 1);
}

/// Returns a text for messages: why the directory `path` is not a run, and a run directory with a similar name, if it
/// exists.
std::string why_no_run(const std::string& path) {
  if (io::exists(path)) return "it has no run.json";
  const auto similar = similar_directory(path, run_markers);
  return "the path does not exist" + (similar.empty() ? "" : fmt::format(" (did you mean '{}'?)", similar));
}

}  // namespace

ReportedMetrics trainer::reported_metrics(const metrics::Record& record) {
  return {record.values.begin(), record.values.end()};
}

double as_real(const ReportedValue& value) {
  return metrics::Record::real_of(value).value_or(std::numeric_limits<double>::quiet_NaN());
}

Result Result::from_path(const std::string& run_dir) {
  Result result;
  result.path = std::filesystem::absolute(run_dir).lexically_normal().string();
  while (result.path.size() > 1 && result.path.back() == '/') result.path.pop_back();
  const auto record = rundir::read_run_record(result.path);
  if (!record) throw UsageError(fmt::format("{} is not a run directory: {}", result.path, why_no_run(result.path)));
  const auto attempts = rundir::read_attempts(result.path);
  result.run_name = record->name;
  result.run_id = record->run_id;
  const auto state = rundir::state_of({.recorded = record->state,
                                       .newest = attempts.empty() ? nullptr : &attempts.back(),
                                       .newest_is_alive = !rundir::was_killed(result.path, attempts),
                                       .lacks_end = !rundir::missing_end(result.path, *record).empty()});
  result.state = rundir::word_of(state);
  result.attempts = attempts.empty() ? 0 : attempts.back().number;
  result.code = code_of(state, attempts);
  result.error = error_of(result.path);
  read_reports(result);
  read_checkpoints(result, *record);
  return result;
}

std::optional<ResultCheckpoint> Result::get_best_checkpoint(std::string_view metric, std::string_view mode) const {
  if (mode != "max" && mode != "min")
    throw UsageError(fmt::format("get_best_checkpoint(): invalid mode '{}'; valid modes: max, min", mode));
  const ResultCheckpoint* best = nullptr;
  double best_value = 0;
  for (const auto& candidate : best_checkpoints) {
    const auto found = candidate.metrics.find(std::string(metric));
    if (found == candidate.metrics.end() || std::isnan(found->second)) continue;
    const bool is_better = best == nullptr || (mode == "max" ? found->second > best_value : found->second < best_value);
    const bool is_newer = best != nullptr && found->second == best_value && candidate.index > best->index;
    if (!is_better && !is_newer) continue;
    best = &candidate;
    best_value = found->second;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

}  // namespace trainrt
