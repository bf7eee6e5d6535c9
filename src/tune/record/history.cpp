#include "tune/record/history.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "core/text/json_number.hpp"

namespace trainrt::tune {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<rundir::RunState, 5> run_states{rundir::RunState::running, rundir::RunState::paused,
                                                     rundir::RunState::failed, rundir::RunState::finished,
                                                     rundir::RunState::finished};
constexpr std::array<std::string_view, 4> verdict_names{"go on", "stop", "pause", "clone"};

Json number_or_null(const std::optional<double>& value) { return value ? json_of_number(*value) : Json(nullptr); }

/// Returns the number under `key`; nullopt if it is missing, null or NaN.
std::optional<double> number_in(const Json& json, const char* key) {
  return json.contains(key) && !json.at(key).is_null() ? number_of_json(json.at(key)) : std::nullopt;
}

/// Applies the record that an attempt began. Records of different files can arrive in any order, so the record of an
/// attempt that is older than the known one is ignored.
void take_begin(int attempt, Trial& trial) {
  if (attempt <= trial.attempt) return;
  trial.attempt = attempt;
  if (!trial.has_succeeded()) trial.state = Trial::State::running;
}

void count_failures(Trial& trial) {
  trial.failures = static_cast<int>(
      std::ranges::count_if(trial.failed_attempts, [&](int attempt) { return attempt > trial.retried_after; }));
}

/// Applies a record that gives a failed trial new attempts. It may be read before the records of the attempts to which
/// it refers.
void take_retry(int attempt, Trial& trial) {
  trial.retried_after = std::max(trial.retried_after, attempt);
  count_failures(trial);
  if (trial.generation == 1 && trial.params_attempt <= trial.retried_after) trial.params.clear();
  if (trial.attempt <= trial.retried_after) trial.final_up_to.reset();
}

void take_params(const Json& json, Trial& trial) {
  const int attempt = json.at("attempt");
  if (json.at("generation") < trial.generation || attempt < trial.params_attempt || attempt <= trial.retried_after) return;
  trial.params_attempt = attempt;
  trial.params = json.at("params").get<Params>();
}

void take_end(const Json& json, int attempt, Trial& trial) {
  const auto state = static_cast<Trial::State>(json.at("state").get<int>());
  if (state == Trial::State::failed) {
    trial.failed_attempts.push_back(attempt);
    count_failures(trial);
  }
  if (attempt < trial.attempt || trial.has_succeeded()) return;
  trial.attempt = attempt;
  trial.state = state;
  trial.iterations = json.at("iterations");
  trial.last = number_in(json, "last");
  trial.best = number_in(json, "best");
  trial.why = json.at("why");
  trial.missing_metric.reset();
  if (json.contains("missing_metric"))
    trial.missing_metric = {json.at("missing_metric"), json.at("reported").get<std::vector<std::string>>()};
  trial.final_up_to.reset();
  if (json.contains("final_up_to") && attempt > trial.retried_after) trial.final_up_to = json.at("final_up_to").get<int>();
}

/// Applies the record of a scheduler's decision. A decision to clone counts only in the generation in which it was
/// made; each cloning begins a new generation.
void take_decision(const Decision& decision, Trial& trial) {
  trial.reports[decision.report.at] = decision.report.score;
  const auto& at = decision.report.at;
  if (decision.verdict.kind == Verdict::Kind::clone && at.generation == trial.generation && at.iteration > trial.kept_at)
    trial.cloning = decision;
}

void take_clone(const Json& json, Trial& trial) {
  const int generation = json.at("generation");
  const auto checkpoint = json.at("checkpoint").get<std::string>();
  if (checkpoint.empty() && generation == trial.generation) {
    trial.kept_at = json.at("iteration");
    if (trial.cloning && trial.cloning->report.at.iteration <= trial.kept_at) trial.cloning.reset();
  }
  if (checkpoint.empty() || generation <= trial.generation) return;
  trial.generation = generation;
  trial.clone_of = checkpoint;
  trial.donor = json.at("donor");
  trial.donor_generation = json.at("donor_generation");
  trial.cloning.reset();
  trial.kept_at = 0;
  trial.params = json.at("params").get<Params>();
}

Verdict verdict_in(const Json& json) {
  const auto found = std::ranges::find(verdict_names, json.at("verdict").get<std::string>());
  return {static_cast<Verdict::Kind>(found - verdict_names.begin()), json.value("donor", std::uint64_t{0})};
}

rundir::Owner owner_in(const Json& json) {
  return {json.at("job_id"),    json.at("restart_count"), json.at("step_id"),       json.at("host"),
          json.at("pid_scope"), json.at("pid"),           json.at("pid_start_time")};
}

}  // namespace

rundir::RunState state_of(Trial::State state) { return run_states.at(static_cast<std::size_t>(state)); }

std::string writer_record(const rundir::Owner& owner) {
  return Json{{"record", "writer"},
              {"job_id", owner.job_id},
              {"restart_count", owner.restart_count},
              {"step_id", owner.step_id},
              {"host", owner.host},
              {"pid_scope", owner.pid_scope},
              {"pid", owner.pid},
              {"pid_start_time", owner.pid_start_time}}
      .dump();
}

std::string begin_record(std::uint64_t trial, int attempt, int generation, const Params& params) {
  Json json{{"record", "begin"}, {"trial", trial}, {"attempt", attempt}, {"generation", generation}};
  if (!params.empty()) json["params"] = params;
  return json.dump();
}

std::string decision_record(const Decision& decision) {
  const auto& [report, verdict] = decision;
  Json json{{"record", "decision"},
            {"trial", report.trial},
            {"generation", report.at.generation},
            {"iteration", report.at.iteration},
            {"score", report.score},
            {"verdict", verdict_names.at(static_cast<std::size_t>(verdict.kind))}};
  if (verdict.kind == Verdict::Kind::clone) json["donor"] = verdict.donor;
  return json.dump();
}

std::string retry_record(std::uint64_t trial, int attempt) {
  return Json{{"record", "retry"}, {"trial", trial}, {"attempt", attempt}}.dump();
}

std::string halt_record(std::uint64_t trial) { return Json{{"record", "halt"}, {"trial", trial}}.dump(); }

std::string clone_record(const Clone& clone) {
  return Json{{"record", "clone"},
              {"trial", clone.trial},
              {"generation", clone.generation},
              {"iteration", clone.iteration},
              {"checkpoint", clone.checkpoint},
              {"params", clone.params},
              {"donor", clone.donor},
              {"donor_generation", clone.donor_at.generation},
              {"donor_iteration", clone.donor_at.iteration}}
      .dump();
}

std::string end_record(const TrialEnd& end) {
  Json json{{"record", "end"},
            {"trial", end.trial},
            {"attempt", end.attempt},
            {"state", static_cast<int>(end.state)},
            {"iterations", end.iterations},
            {"last", number_or_null(end.last)},
            {"best", number_or_null(end.best)},
            {"why", end.why}};
  if (end.final_up_to) json["final_up_to"] = *end.final_up_to;
  if (end.missing_metric) {
    json["missing_metric"] = end.missing_metric->metric;
    json["reported"] = end.missing_metric->reported;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void History::take(int writer, const std::string& text) try {
  const auto json = Json::parse(text);
  const auto kind = json.at("record").get<std::string>();
  if (kind == "writer") {
    writers_[writer] = owner_in(json);
    return;
  }
  auto& trial = trials_[json.at("trial").get<std::uint64_t>()];
  if (kind == "begin") take_begin(json.at("attempt"), trial);
  if (kind == "retry") take_retry(json.at("attempt"), trial);
  if (kind == "begin" && json.contains("params")) take_params(json, trial);
  if (kind == "clone") take_clone(json, trial);
  if (kind == "halt") ++trial.halts;
  if (kind == "end") take_end(json, json.at("attempt"), trial);
  if (kind == "decision") {
    const ReportPosition at{json.at("generation"), json.at("iteration")};
    // Older versions wrote null for an infinite score, usually from a training that diverged.
    const auto score = number_in(json, "score").value_or(worst_score);
    const Decision decision{{json.at("trial"), at, score}, verdict_in(json)};
    take_decision(decision, trial);
    decisions_.push_back(decision);
  }
} catch (const nlohmann::json::exception&) {
}

const Trial& History::trial(std::uint64_t number) const {
  static const Trial none;
  const auto found = trials_.find(number);
  return found == trials_.end() ? none : found->second;
}

}  // namespace trainrt::tune
