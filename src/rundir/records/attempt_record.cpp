#include "rundir/records/attempt_record.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"

namespace trainrt::rundir {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const Timing& timing) {
  return {{"startup_s", timing.startup_s},
          {"steps_s", timing.steps_s},
          {"checkpoint_s", timing.checkpoint_s},
          {"shutdown_s", timing.shutdown_s}};
}

Json to_json(const Owner& owner) {
  return {{"job_id", owner.job_id},
          {"restart_count", owner.restart_count},
          {"step_id", owner.step_id},
          {"host", owner.host},
          {"pid_scope", owner.pid_scope},
          {"pid", owner.pid},
          {"pid_start_time", owner.pid_start_time}};
}

Json to_json(const NextStart& next) {
  return {{"time", next.time}, {"requeued", next.requeued}, {"restart", next.restart}, {"max_restarts", next.max_restarts}};
}

constexpr std::int64_t max_int = std::numeric_limits<int>::max();
constexpr std::int64_t max_count = std::int64_t{1} << 53;  // maximum number of training steps or of reports
constexpr double max_seconds = 1e10;

[[noreturn]] void refuse_value(const std::string& key, const Json& value) {
  throw Error(fmt::format("'{}' has the invalid value {}", key, value.dump()));
}

/// Parses a JSON text. The message of a parse error is shortened, because it quotes each control character of the text as
/// several characters.
Json parsed(const std::string& text) try {
  if (is_nested_deeper(text, max_json_depth)) throw Error("its JSON is nested too deep");
  return Json::parse(text);
} catch (const Json::parse_error& error) {
  throw Error(excerpt(error.what()));
}

template <class T>
T value_or(const Json& json, const char* key, T fallback) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? fallback : found->template get<T>();
}

/// Returns the integer value of `key` in `json`, or `fallback` if the value is missing or null. Throws if the value is not
/// an integer from `min` to `max`.
std::int64_t integer_or(const Json& json, const char* key, std::int64_t fallback, std::int64_t max, std::int64_t min = 0) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return fallback;
  const bool fits = found->is_number_integer() &&
                    !(found->is_number_unsigned() && found->get<std::uint64_t>() > std::uint64_t{INT64_MAX});
  if (!fits || found->get<std::int64_t>() < min || found->get<std::int64_t>() > max) refuse_value(key, *found);
  return found->get<std::int64_t>();
}

int small_or(const Json& json, const char* key, int fallback, int min = 0) {
  return static_cast<int>(integer_or(json, key, fallback, max_int, min));
}

double seconds_or(const Json& json, const char* key) {
  const auto seconds = value_or(json, key, 0.0);
  if (!(seconds >= 0 && seconds < max_seconds)) refuse_value(key, json.at(key));
  return seconds;
}

std::optional<double> real_if_given(const Json& json, const char* key, double min) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  const auto number = found->get<double>();
  if (!(number >= min && number <= static_cast<double>(max_count))) refuse_value(key, *found);
  return number;
}

Owner owner_from(const Json& json) {
  const auto& start_time = json.at("pid_start_time");
  if (!start_time.is_number_unsigned()) refuse_value("pid_start_time", start_time);
  return {.job_id = json.at("job_id"),
          .restart_count = small_or(json, "restart_count", 0, -1),
          .step_id = json.at("step_id"),
          .host = json.at("host"),
          .pid_scope = json.at("pid_scope"),
          .pid = small_or(json, "pid", 0),
          .pid_start_time = start_time};
}

Mistake mistake_from(const Json& json) {
  const auto found = json.find("mistake");
  if (found == json.end() || found->is_null()) return {};
  return {.kind = found->at("kind"), .error = found->at("error")};
}

std::optional<NextStart> next_start_from(const Json& json) {
  const auto found = json.find("next_start");
  if (found == json.end() || found->is_null()) return std::nullopt;
  return NextStart{.time = found->at("time"),
                   .requeued = found->at("requeued"),
                   .restart = small_or(*found, "restart", 0),
                   .max_restarts = small_or(*found, "max_restarts", 0)};
}

/// Returns, as JSON, the progress and times of an attempt: the values that both its record and its heartbeat file contain.
Json numbers_of(const AttemptRecord& record) {
  const auto or_null = [](std::int64_t number) { return number < 0 ? Json() : Json(number); };
  Json json = {{"first_step", record.first_step},
               {"last_step", record.last_step},
               {"saved_step", or_null(record.saved_step)},
               {"saved_checkpoint", or_null(record.saved_checkpoint)},
               {"first_iteration", record.first_iteration},
               {"saved_iteration", or_null(record.saved_iteration)},
               {"iteration", record.iteration},
               {"timing", to_json(record.timing)},
               {"seen", record.seen.empty() ? Json() : Json(record.seen)}};
  if (record.from_copy) json["from_copy"] = true;
  if (record.silent) json["silent"] = true;
  if (record.silent && record.position) json["position"] = *record.position;
  if (record.expected > 0) json["expected"] = record.expected;
  if (record.unreported_s > 0) json["unreported_s"] = record.unreported_s;
  if (!record.job_end.empty()) json["job_end"] = record.job_end;
  return json;
}

/// Copies the values in `json`, the result of numbers_of(), into `record`. Throws for invalid values.
void take_numbers(AttemptRecord& record, const Json& json) {
  const auto count_or = [&](const char* key, std::int64_t fallback) {
    return integer_or(json, key, fallback, max_count, std::min<std::int64_t>(fallback, 0));
  };
  record.first_step = count_or("first_step", 0);
  record.last_step = count_or("last_step", 0);
  record.saved_step = count_or("saved_step", -1);
  record.saved_checkpoint = integer_or(json, "saved_checkpoint", -1, std::numeric_limits<std::int64_t>::max());
  record.iteration = count_or("iteration", 0);
  record.first_iteration = count_or("first_iteration", record.iteration);
  record.saved_iteration = count_or("saved_iteration", -1);
  record.seen = value_or<std::string>(json, "seen", "");
  record.from_copy = value_or(json, "from_copy", false);
  record.silent = value_or(json, "silent", false);
  record.position = real_if_given(json, "position", -1);
  record.expected = real_if_given(json, "expected", 0).value_or(0);
  record.unreported_s = seconds_or(json, "unreported_s");
  record.job_end = value_or<std::string>(json, "job_end", "");
  const auto timing = value_or(json, "timing", Json::object());
  record.timing = {.startup_s = seconds_or(timing, "startup_s"),
                   .steps_s = seconds_or(timing, "steps_s"),
                   .checkpoint_s = seconds_or(timing, "checkpoint_s"),
                   .shutdown_s = seconds_or(timing, "shutdown_s")};
}

/// Throws if the text of any time in the record is invalid.
void check_times(const AttemptRecord& record) {
  for (const auto* time : {&record.start, &record.end, &record.seen, &record.job_start, &record.job_end})
    if (!time->empty()) seconds_between(*time, *time);
  if (record.next_start) seconds_between(record.next_start->time, record.next_start->time);
}

}  // namespace

std::string attempt_name(int number) { return fmt::format("{:06}", number); }

RunState state_of(const AttemptRecord& attempt) {
  if (attempt.end.empty()) return RunState::running;
  switch (attempt.exit_code) {
    case static_cast<int>(ExitCode::finished):
      return RunState::finished;
    case static_cast<int>(ExitCode::stopped):
      return RunState::stopped;
    default:
      return attempt.why.starts_with("failed") || attempt.why.starts_with("stopped") ? RunState::failed : RunState::killed;
  }
}

std::string why_without_end(const Owner& gone, const Owner& me) {
  const auto killed = [](const std::string& how) { return "killed: it wrote no end (" + how + ")"; };
  if (gone.job_id.empty()) return killed(fmt::format("process {} on {}", gone.pid, gone.host));
  const auto restart = gone.restart_count > 0 ? fmt::format(", restart {}", gone.restart_count) : std::string();
  const auto job = "job " + gone.job_id + restart;
  if (gone.job_id != me.job_id) return killed(job + (me.job_id.empty() ? "" : "; continued by job " + me.job_id));
  if (gone.restart_count < me.restart_count) return killed(job + "; requeued by Slurm");
  return killed(fmt::format("{}, step {}; restarted in the same allocation", job, gone.step_id));
}

std::string to_text(const AttemptRecord& record) {
  Json json = {{"attempt", record.number},
               {"start", record.start},
               {"end", record.end.empty() ? Json() : Json(record.end)},
               {"why", record.why.empty() ? Json() : Json(record.why)},
               {"exit_code", record.exit_code < 0 ? Json() : Json(record.exit_code)}};
  if (!record.mistake.kind.empty()) json["mistake"] = {{"kind", record.mistake.kind}, {"error", record.mistake.error}};
  if (!record.blamed_node.empty()) json["blamed_node"] = record.blamed_node;
  if (record.is_permanent) json["permanent"] = true;
  if (record.next_start) json["next_start"] = to_json(*record.next_start);
  json.update(numbers_of(record));
  if (!record.job_start.empty()) json["job_start"] = record.job_start;
  if (record.accepted_missing) json["accepted_missing_checkpoints"] = true;
  if (!record.trainrt_version.empty()) json["trainrt_version"] = record.trainrt_version;
  if (!record.bits.empty()) json["bits"] = to_json(record.bits);
  if (record.memory_attempt > 0) json["memory_attempt"] = record.memory_attempt;
  if (!record.address.empty()) json["address"] = record.address;
  json.update({{"ranks", record.ranks}, {"nodes", record.nodes}, {"owner", to_json(record.owner)}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

AttemptRecord attempt_record_from(const std::string& text) {
  const auto json = parsed(text);
  AttemptRecord record;
  if (json.at("attempt").is_null()) refuse_value("attempt", json.at("attempt"));
  record.number = small_or(json, "attempt", 0, 1);
  record.start = value_or<std::string>(json, "start", "");
  record.end = value_or<std::string>(json, "end", "");
  record.why = value_or<std::string>(json, "why", "");
  record.job_start = value_or<std::string>(json, "job_start", "");
  record.exit_code = small_or(json, "exit_code", -1, -1);
  record.mistake = mistake_from(json);
  record.blamed_node = value_or<std::string>(json, "blamed_node", "");
  record.is_permanent = value_or(json, "permanent", false);
  record.next_start = next_start_from(json);
  take_numbers(record, json);
  check_times(record);
  record.accepted_missing = value_or(json, "accepted_missing_checkpoints", false);
  record.trainrt_version = value_or<std::string>(json, "trainrt_version", "");
  if (const auto bits = json.find("bits"); bits != json.end()) record.bits = bit_facts_from(*bits);
  record.memory_attempt = small_or(json, "memory_attempt", 0);
  record.ranks = small_or(json, "ranks", 0);
  record.nodes = value_or<std::vector<std::string>>(json, "nodes", {});
  record.address = value_or<std::string>(json, "address", "");
  record.owner = owner_from(json.at("owner"));
  return record;
}

std::string heartbeat_text(const AttemptRecord& record) {
  Json json = {{"attempt", record.number}};
  json.update(numbers_of(record));
  return json.dump(2) + "\n";
}

void merge_heartbeat_text(AttemptRecord& record, const std::string& text) {
  auto merged = record;
  take_numbers(merged, parsed(text));
  check_times(merged);
  record = std::move(merged);
}

}  // namespace trainrt::rundir
