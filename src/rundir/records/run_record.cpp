#include "rundir/records/run_record.hpp"

#include <cerrno>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::rundir {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* file_name = "run.json";
constexpr const char* run_format = "trainrt run 1";

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw UsageError(path + " is not a run record of trainrt: " + why);
}

std::string dumped(const Json& value) { return excerpt(value.dump(-1, ' ', false, Json::error_handler_t::replace)); }

/// Returns `value`, the value of `key` in the file `path`, as an integer. Throws UsageError unless it is an integer from 0
/// to `max`.
std::int64_t number_from(const Json& value, const std::string& key, const std::string& path, std::int64_t max) {
  const bool fits = value.is_number_integer() && value >= 0 && value <= max;
  if (!fits) refuse(path, fmt::format("'{}' is {}; it must be an integer from 0 to {}", key, dumped(value), max));
  return value.get<std::int64_t>();
}

int small_from(const Json& value, const std::string& key, const std::string& path) {
  return static_cast<int>(number_from(value, key, path, std::numeric_limits<int>::max()));
}

RunState state_from_json(const Json& value, const std::string& path) {
  const auto word = value.get<std::string>();
  const auto state = state_from(word);
  if (!state)
    refuse(path, fmt::format("'state' is '{}'; it must be one of: {}", excerpt(word), fmt::join(state_words, ", ")));
  return *state;
}

/// Throws UsageError if the record of a run has another format version, in which keys may have other meanings.
void refuse_other_format(const Json& json, const std::string& path) {
  const auto format = json.is_object() && json.contains("format") ? json.at("format") : Json(run_format);
  if (format != run_format)
    throw UsageError(
        fmt::format("{} was written by another version of trainrt: its format is {}, but this version reads '{}'. Use the "
                    "version that started the run, or a newer one",
                    path, dumped(format), run_format));
}

Json as_json(const std::optional<RunRecord::Completion>& completion) {
  if (!completion) return nullptr;
  return {{"checkpoint", completion->checkpoint}, {"step", completion->step}, {"iteration", completion->iteration}};
}

std::optional<RunRecord::Completion> completion_from(const Json& json, const std::string& path) {
  if (json.is_null()) return std::nullopt;
  const auto number = [&](const std::string& key) {
    return number_from(json.at(key), "completed_by." + key, path, std::numeric_limits<std::int64_t>::max());
  };
  return RunRecord::Completion{number("checkpoint"), number("step"), number("iteration")};
}

std::string random_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

std::string to_text(const RunRecord& record) {
  Json changes = Json::array();
  for (const auto& change : record.changes)
    changes.push_back({{"attempt", change.attempt}, {"key", change.key}, {"from", change.from}, {"to", change.to}});
  const Json json = {{"format", run_format},
                     {"name", record.name},
                     {"run_id", record.run_id},
                     {"created", record.created},
                     {"train_function", record.function},
                     {"state", word_of(record.state)},
                     {"completed_by", as_json(record.completed_by)},
                     {"workers", record.workers},
                     {"opened_by_program", record.opened_by_program},
                     {"loop", record.loop},
                     {"changes", changes},
                     {"code", record.code},
                     {"config", record.spec}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunRecord run_record_from(const std::string& text, const std::string& path) try {
  if (is_nested_deeper(text, max_json_depth)) refuse(path, "its JSON is nested too deep");
  const auto json = Json::parse(text);
  refuse_other_format(json, path);
  RunRecord record;
  record.name = json.at("name");
  record.run_id = json.at("run_id");
  record.created = json.at("created");
  record.function = json.at("train_function");
  record.state = state_from_json(json.at("state"), path);
  record.workers = json.contains("workers") ? small_from(json.at("workers"), "workers", path) : 0;
  record.opened_by_program = json.contains("opened_by_program") && json.at("opened_by_program").get<bool>();
  record.loop = json.at("loop").get<std::map<std::string, std::string>>();
  record.spec = json.at("config").get<std::map<std::string, std::string>>();
  if (json.contains("code")) record.code = json.at("code").get<std::map<std::string, std::string>>();
  if (json.contains("completed_by")) record.completed_by = completion_from(json.at("completed_by"), path);
  for (const auto& change : json.at("changes"))
    record.changes.push_back(
        {small_from(change.at("attempt"), "attempt", path), change.at("key"), change.at("from"), change.at("to")});
  return record;
} catch (const Json::exception& error) {
  refuse(path, excerpt(error.what()));
}

std::optional<RunRecord> read_run_record(const std::string& run_dir) {
  const auto path = run_dir + "/" + file_name;
  if (!io::retried([&] { return io::exists(path); })) return std::nullopt;
  return run_record_from(io::retried([&] { return io::read_file(path); }), path);
}

RunRecord read_seen_run_record(const std::string& run_dir) {
  return io::retried([&] {
    auto record = read_run_record(run_dir);
    const auto path = run_dir + "/" + file_name;
    if (!record) throw io::StorageError(path + " has disappeared", ESTALE, path);
    return std::move(*record);
  });
}

void write_run_record(const io::FencedDirectory& run_dir, const RunRecord& record) {
  io::retried([&, text = to_text(record)] { run_dir.replace(file_name, text); });
}

RunRecord new_run_record(const std::string& name, const std::string& function, const ConfigTexts& config) {
  return {.name = name,
          .run_id = random_id(),
          .created = utc_now(),
          .function = function,
          .loop = config.loop,
          .spec = config.rest};
}

namespace {

using Texts = std::map<std::string, std::string>;

void add_changes(std::vector<RunRecord::Change>& changes, const Texts& before, const Texts& now, const std::string& prefix,
                 int attempt) {
  const auto value = [](const Texts& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : found->second;
  };
  auto all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [key, unused] : all)
    if (value(before, key) != value(now, key))
      changes.push_back({attempt, prefix + key, value(before, key), value(now, key)});
}

Texts keys_of(const Texts& spec, std::string_view section) {
  Texts found;
  for (const auto& [key, value] : spec)
    if (key.starts_with(section)) found.emplace(key, value);
  return found;
}

}  // namespace

std::vector<RunRecord::Change> changes_of(const RunRecord& record, const ConfigTexts& config, int attempt) {
  std::vector<RunRecord::Change> changes;
  auto before = record.loop, now = config.loop;
  before.insert(config.loop_defaults.begin(), config.loop_defaults.end());
  now.insert(config.loop_defaults.begin(), config.loop_defaults.end());
  add_changes(changes, before, now, "loop.", attempt);
  for (const auto& section : config.compared)
    add_changes(changes, keys_of(record.spec, section), keys_of(config.rest, section), "", attempt);
  return changes;
}

std::vector<RunRecord::Change> take_changes(RunRecord& record, const ConfigTexts& config, int attempt) {
  auto changes = changes_of(record, config, attempt);
  record.loop = config.loop;
  record.changes.insert(record.changes.end(), changes.begin(), changes.end());
  return changes;
}

std::string loop_as_json(const RunRecord& record) { return Json(record.loop).dump(2) + "\n"; }

}  // namespace trainrt::rundir
