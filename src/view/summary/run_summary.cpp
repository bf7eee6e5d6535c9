#include "view/summary/run_summary.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "io/files/file.hpp"
#include "metrics/record_json.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/attempts/run_evidence.hpp"
#include "rundir/attempts/start_claim.hpp"
#include "rundir/records/rank_status.hpp"
#include "view/summary/attempt_texts.hpp"
#include "view/summary/purge.hpp"

namespace trainrt::view {

using Json = nlohmann::ordered_json;

namespace {

/// Sets the end of the last attempt if the attempt was killed. A killed attempt cannot record its end.
void end_if_killed(RunSummary& run) {
  const bool was_killed = run.state == rundir::RunState::killed || run.state == rundir::RunState::starting;
  if (!was_killed || run.attempts.empty() || !run.attempts.back().end.empty()) return;
  auto& last = run.attempts.back();
  last.end = last.seen.empty() ? last.start : last.seen;
  last.why = rundir::why_without_end(last.owner, {});
}

/// The last report may be newer than the last heartbeat of the newest attempt. Raises the iteration of this attempt to
/// the iteration of the last report, and its step to the metric "_step", if the report has one.
void take_last_report(RunSummary& run) {
  if (run.reports.empty() || run.attempts.empty() || run.attempts.back().start.empty()) return;
  auto& newest = run.attempts.back();
  const auto& last = run.reports.back();
  const double began_s = seconds_between("1970-01-01T00:00:00Z", newest.start);
  if (last.number("_timestamp").value_or(0) < began_s || last.iteration <= newest.iteration) return;
  const auto step = last.number("_step");
  newest.iteration = last.iteration;
  if (step) newest.last_step = std::max(newest.last_step, static_cast<std::int64_t>(*step));
}

Json as_json(const rundir::TimeAccount& account) {
  const auto goodput = account.goodput();
  return {{"waiting_s", account.waiting_s},
          {"startup_s", account.startup_s},
          {"productive_s", account.productive_s},
          {"checkpoint_s", account.checkpoint_s},
          {"lost_s", account.lost_s},
          {"shutdown_s", account.shutdown_s},
          {"total_s", account.total_s()},
          {"goodput", goodput ? Json(*goodput) : Json()}};
}

Json as_json(const rundir::UsageSummary& usage) {
  if (usage.ranks == 0) return nullptr;
  const auto if_known = [](std::int64_t number) { return number < 0 ? Json() : Json(number); };
  const auto or_null = [](std::optional<double> number) { return number ? Json(*number) : Json(); };
  return {{"ranks", usage.ranks},
          {"cpu_s", usage.cpu_s},
          {"cpu_use", or_null(usage.cpu_use())},
          {"peak_memory_bytes", if_known(usage.peak)},
          {"peak_memory_rank", if_known(usage.peak_rank)},
          {"read_bytes", if_known(usage.read)},
          {"written_bytes", if_known(usage.written)},
          {"gpu_use", or_null(usage.gpu_use())},
          {"energy_j", or_null(usage.energy_j)},
          {"energy_of", usage.energy_of.empty() ? Json() : Json(usage.energy_of)}};
}

Json as_json(const rundir::Forecast& forecast) {
  const auto if_known = [](double seconds) { return seconds > 0 ? Json(seconds) : Json(); };
  const auto advice = rundir::advice_of(forecast);
  return {{"left_s", forecast.left_s()},
          {"training_s", forecast.training_s},
          {"saves_s", forecast.saves_s},
          {"repeated_s", forecast.repeated_s},
          {"jobs_s", forecast.jobs_s},
          {"waiting_s", forecast.waits_known ? Json(forecast.waiting_s) : Json()},
          {"finish", forecast.runs ? Json(utc_before(-forecast.left_s())) : Json()},
          {"more_jobs", forecast.job_limit_s > 0 ? Json(forecast.more_jobs) : Json()},
          {"job_limit_s", if_known(forecast.job_limit_s)},
          {"advised_limit_s", if_known(forecast.advised_limit_s)},
          {"advice", advice.empty() ? Json() : Json(advice)}};
}

Json as_json(const rundir::AttemptRecord& attempt, const rundir::TimeAccount& account, const rundir::UsageSummary& usage) {
  const auto or_null = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  const auto if_known = [&](std::int64_t number) { return attempt.shows_progress() ? Json(number) : Json(); };
  return {{"attempt", attempt.number},
          {"state", rundir::word_of(rundir::state_of(attempt))},
          {"start", attempt.start},
          {"end", or_null(attempt.end)},
          {"seen", or_null(attempt.seen)},
          {"why", or_null(attempt.why)},
          {"exit_code", attempt.exit_code < 0 ? Json() : Json(attempt.exit_code)},
          {"blamed_node", or_null(attempt.blamed_node)},
          {"trainrt_version", or_null(attempt.trainrt_version)},
          {"ranks", attempt.ranks},
          {"nodes", attempt.nodes},
          {"silent", attempt.silent},
          {"from_copy", attempt.from_copy},
          {"first_step", if_known(attempt.first_step)},
          {"last_step", if_known(attempt.last_step)},
          {"saved_step", attempt.saved_step < 0 ? Json() : Json(attempt.saved_step)},
          {"first_iteration", if_known(attempt.first_iteration)},
          {"saved_iteration", attempt.saved_iteration < 0 ? Json() : Json(attempt.saved_iteration)},
          {"iteration", if_known(attempt.iteration)},
          {"job_id", attempt.owner.job_id},
          {"restart_count", attempt.owner.restart_count},
          {"time", as_json(account)},
          {"usage", as_json(usage)}};
}

Json next_start(const RunSummary& run) {
  const auto* attempt = announcing_attempt(run.state, run.attempts, utc_now());
  if (attempt == nullptr) return nullptr;
  const auto& next = attempt->next_start;
  return {{"attempt", attempt->number + 1},
          {"time", next->time},
          {"requeued", next->requeued},
          {"restart", next->restart > 0 ? Json(next->restart) : Json()},
          {"max_restarts", next->restart > 0 ? Json(next->max_restarts) : Json()}};
}

/// Returns the excluded nodes of a run. If their file cannot be read, logs a warning and returns an empty vector.
std::vector<rundir::ExcludedNode> excluded_nodes(const std::string& run_dir) try {
  return rundir::read_excluded_nodes(run_dir);
} catch (const Error& error) {
  log::warning(error.what());
  return {};
}

Json as_json(const rundir::ExcludedNode& excluded) {
  return {
      {"node", excluded.node}, {"why", excluded.why}, {"since_attempt", excluded.since_attempt}, {"time", excluded.time}};
}

}  // namespace

bool RunSummary::is_silent() const {
  return !attempts.empty() && reports.empty() && std::ranges::all_of(attempts, &rundir::AttemptRecord::silent);
}

const metrics::Record* RunSummary::best() const {
  const auto attribute = record.spec.find("checkpoint.score_attribute");
  if (attribute == record.spec.end()) return nullptr;
  const bool maximize = record.spec.at("checkpoint.score_order") == "max";
  const metrics::Record* best = nullptr;
  double best_score = 0;
  for (const auto& report : reports) {
    const auto score = report.number(attribute->second);
    if (!score || std::isnan(*score)) continue;
    if (best == nullptr || (maximize ? *score > best_score : *score < best_score)) {
      best = &report;
      best_score = *score;
    }
  }
  return best;
}

RunSummary summary_of(const std::string& run_dir) {
  const GuardedTree guarded(run_dir);
  const auto record = rundir::read_run_record(run_dir);
  if (!record) throw UsageError(run_dir + " is not a run directory: it has no run.json");
  RunSummary run;
  run.run_dir = run_dir;
  run.record = *record;
  run.reports = metrics::read_results(run_dir);
  run.checkpoints = checkpoint::list(run_dir);
  run.attempts = rundir::read_attempts(run_dir);
  run.missing_end = rundir::missing_end(run_dir, run.record);
  run.state = rundir::state_of({.recorded = run.record.state,
                                .newest = run.attempts.empty() ? nullptr : &run.attempts.back(),
                                .newest_is_alive = !rundir::was_killed(run_dir, run.attempts),
                                .lacks_end = !run.missing_end.empty(),
                                .is_being_started = rundir::is_being_started(run_dir)});
  end_if_killed(run);
  take_last_report(run);
  run.mirror = rundir::read_mirror_status(run_dir);
  run.contradiction = rundir::contradiction_in(rundir::gather_evidence(run_dir));
  run.attempt_count = std::max(rundir::numbers_of_attempts(run_dir).size(), run.attempts.size());
  run.accounts = rundir::accounts_of(run.attempts);
  for (const auto& attempt : run.attempts)
    run.usages.push_back(rundir::usage_of(rundir::read_rank_statuses(run_dir, attempt.number)));
  run.forecast = rundir::forecast_of(run.attempts, utc_now());
  run.excluded_nodes = excluded_nodes(run_dir);
  run.purge_warning = purge_warning(run_dir, run.record);
  return run;
}

std::vector<std::string> run_dirs_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (!entry.path().filename().string().starts_with('.') && io::exists(entry.path() / "run.json"))
      found.push_back(entry.path());
  if (error) throw UsageError(fmt::format("'{}' cannot be listed: {}", folder, error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

std::string goodput_text(const rundir::TimeAccount& account) {
  const auto goodput = account.goodput();
  return goodput ? fmt::format("{:.1f} %", 100 * *goodput) : "unknown";
}

std::vector<std::string> notes_on_time(const rundir::TimeAccount& account) {
  std::vector<std::string> notes = {
      "Start-up ends when restore() returns; without restore(), when the train function is called, or when a program calls "
      "trainrt.context() or fit()."};
  if (account.silent)
    notes.emplace_back(
        "The goodput is unknown, because the program of an attempt did not report progress: all its time counts as "
        "productive.");
  return notes;
}

std::string train_function_text(const rundir::RunRecord& record) {
  const auto program = record.spec.find("train.program");
  const auto loop = record.loop.find("train_loop_per_worker");
  if (loop == record.loop.end())
    return program == record.spec.end() ? "train function " + record.function : "program " + program->second;
  const bool is_launched = program == record.spec.end() || program->second.find(" -m trainrt.") != std::string::npos;
  return "train function " + loop->second + (is_launched ? "" : " of " + program->second);
}

Json as_json(const RunSummary& run) {
  Json attempts = Json::array();
  for (std::size_t i = 0; i < run.attempts.size(); ++i)
    attempts.push_back(as_json(run.attempts[i], run.accounts[i], run.usages[i]));
  Json checkpoints = Json::array();
  for (const auto& meta : run.checkpoints)
    checkpoints.push_back({{"directory", run.run_dir + "/" + checkpoint::directory_name(meta.number)},
                           {"iteration", meta.iteration},
                           {"step", meta.step}});
  Json excluded = Json::array();
  for (const auto& node : run.excluded_nodes) excluded.push_back(as_json(node));
  const auto report = [](const metrics::Record* record) {
    return record != nullptr ? Json::parse(metrics::to_json(*record)) : Json();
  };
  return {{"name", run.record.name},
          {"run_id", run.record.run_id},
          {"state", rundir::word_of(run.state)},
          {"train_function", run.record.function},
          {"config", run.record.loop},
          {"path", run.run_dir},
          {"iterations", run.is_silent() ? Json() : Json(run.reports.size())},
          {"metrics", report(run.last())},
          {"best_metrics", report(run.best())},
          {"checkpoints", checkpoints},
          {"mirror", run.mirror ? Json{{"url", run.mirror->url},
                                       {"newest", run.mirror->newest},
                                       {"copied", run.mirror->copied},
                                       {"skipped", run.mirror->skipped},
                                       {"failed", run.mirror->failed},
                                       {"error", run.mirror->error}}
                                : Json()},
          {"missing_end", run.missing_end.empty() ? Json() : Json(run.missing_end)},
          {"contradiction", run.contradiction.empty() ? Json() : Json(run.contradiction)},
          {"purge_warning", run.purge_warning.empty() ? Json() : Json(run.purge_warning)},
          {"attempts", attempts},
          {"attempt_count", run.attempt_count},
          {"next_start", next_start(run)},
          {"excluded_nodes", excluded},
          {"time", as_json(rundir::sum_of(run.accounts))},
          {"usage", as_json(rundir::sum_of(run.usages))},
          {"time_left", run.forecast ? as_json(*run.forecast) : Json()}};
}

}  // namespace trainrt::view
