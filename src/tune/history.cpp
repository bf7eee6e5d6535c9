#include "tune/history.hpp"

#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

namespace trainrt::tune {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 5> state_names{"running", "paused", "failed", "finished", "stopped"};

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

std::optional<double> number_in(const Json& json, const char* key) {
  return json.contains(key) && json.at(key).is_number() ? std::optional(json.at(key).get<double>()) : std::nullopt;
}

/// A newer attempt puts an older one in the past, whichever file it stands in.
void take_begin(int attempt, Trial& trial) {
  if (attempt <= trial.attempt) return;
  trial.attempt = attempt;
  if (!trial.has_ended_well()) trial.state = Trial::State::running;
}

void take_end(const Json& json, int attempt, Trial& trial) {
  const auto state = static_cast<Trial::State>(json.at("state").get<int>());
  if (state == Trial::State::failed) ++trial.failures;
  if (attempt < trial.attempt || trial.has_ended_well()) return;
  trial.attempt = attempt;
  trial.state = state;
  trial.iterations = json.at("iterations");
  trial.last = number_in(json, "last");
  trial.best = number_in(json, "best");
  trial.why = json.at("why");
}

rundir::Owner owner_in(const Json& json) {
  return {json.at("job_id"),    json.at("restart_count"), json.at("step_id"),       json.at("host"),
          json.at("pid_scope"), json.at("pid"),           json.at("pid_start_time")};
}

}  // namespace

std::string_view name_of(Trial::State state) { return state_names.at(static_cast<std::size_t>(state)); }

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

std::string begin_record(std::uint64_t trial, int attempt, const Params& params) {
  Json json{{"record", "begin"}, {"trial", trial}, {"attempt", attempt}};
  if (!params.empty()) json["params"] = params;
  return json.dump();
}

std::string decision_record(std::uint64_t trial, std::int64_t iteration, double score, bool stops, const Positions& read) {
  auto pairs = Json::array();
  for (const auto& [writer, bytes] : read) pairs.push_back(Json::array({writer, bytes}));
  return Json{{"record", "decision"}, {"trial", trial}, {"iteration", iteration},
              {"score", score},       {"stops", stops}, {"read", std::move(pairs)}}
      .dump();
}

std::string end_record(const TrialEnd& end) {
  return Json{{"record", "end"},
              {"trial", end.trial},
              {"attempt", end.attempt},
              {"state", static_cast<int>(end.state)},
              {"iterations", end.iterations},
              {"last", number_or_null(end.last)},
              {"best", number_or_null(end.best)},
              {"why", end.why}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// A record of a later version, which this one does not know, is left out.
void History::take(int writer, const std::string& text) try {
  const auto json = Json::parse(text);
  const auto kind = json.at("record").get<std::string>();
  if (kind == "writer") {
    writers_[writer] = owner_in(json);
    return;
  }
  auto& trial = trials_[json.at("trial").get<std::uint64_t>()];
  if (kind == "begin") take_begin(json.at("attempt"), trial);
  if (json.contains("params")) trial.params = json.at("params").get<Params>();
  if (kind == "end") take_end(json, json.at("attempt"), trial);
  if (kind == "decision") {
    trial.reports[json.at("iteration")] = json.at("score");
    decisions_.push_back({json.at("trial"), json.at("iteration"), json.at("score"), json.at("stops")});
    for (const auto& pair : json.at("read")) read_[writer][pair.at(0)] = pair.at(1);
  }
} catch (const nlohmann::json::exception&) {
}

Positions History::read_by(int writer) const {
  const auto found = read_.find(writer);
  return found == read_.end() ? Positions() : found->second;
}

}  // namespace trainrt::tune
