#include "trainer/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/log.hpp"
#include "core/options.hpp"
#include "io/exclusive.hpp"
#include "io/file.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

std::string path_of(const std::string& run_dir, int number) {
  return run_dir + "/attempts/" + attempt_name(number) + ".json";
}

std::string to_text(const AttemptRecord& record) {
  const auto& owner = record.owner;
  Json json = {{"attempt", record.number},
               {"start", record.start},
               {"end", record.end.empty() ? Json() : Json(record.end)},
               {"why", record.why.empty() ? Json() : Json(record.why)},
               {"exit_code", record.exit_code < 0 ? Json() : Json(record.exit_code)},
               {"first_step", record.first_step},
               {"last_step", record.last_step},
               {"ranks", record.ranks},
               {"nodes", record.nodes},
               {"owner",
                {{"job_id", owner.job_id},
                 {"restart_count", owner.restart_count},
                 {"step_id", owner.step_id},
                 {"host", owner.host},
                 {"pid_scope", owner.pid_scope},
                 {"pid", owner.pid},
                 {"pid_start_time", owner.pid_start_time}}}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class T>
T value_or(const Json& json, const char* key, T fallback) {
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? fallback : found->template get<T>();
}

AttemptRecord from_text(const std::string& text) {
  const auto json = Json::parse(text);
  AttemptRecord record;
  record.number = json.at("attempt");
  record.start = value_or<std::string>(json, "start", "");
  record.end = value_or<std::string>(json, "end", "");
  record.why = value_or<std::string>(json, "why", "");
  record.exit_code = value_or(json, "exit_code", -1);
  record.first_step = value_or<std::int64_t>(json, "first_step", 0);
  record.last_step = value_or<std::int64_t>(json, "last_step", 0);
  record.ranks = value_or(json, "ranks", 0);
  record.nodes = value_or<std::vector<std::string>>(json, "nodes", {});
  const auto& owner = json.at("owner");
  record.owner = {.job_id = owner.at("job_id"),
                  .restart_count = owner.at("restart_count"),
                  .step_id = owner.at("step_id"),
                  .host = owner.at("host"),
                  .pid_scope = owner.at("pid_scope"),
                  .pid = owner.at("pid"),
                  .pid_start_time = owner.at("pid_start_time")};
  return record;
}

/// Numbers of the attempts that have a record, readable or not, in order.
std::vector<int> numbers_in(const std::string& run_dir) {
  std::vector<int> numbers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(run_dir + "/attempts", none)) {
    const auto number = parse_integer(entry.path().stem().string());
    if (entry.path().extension() == ".json" && number && *number > 0 && *number < 1'000'000'000)
      numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// nullopt, with a warning, where a record cannot be read: then nobody can be shown to be alive by it.
std::optional<AttemptRecord> read_record(const std::string& path) {
  try {
    return from_text(io::read_file(path));
  } catch (const std::exception& error) {
    log::warning(fmt::format("the record {} cannot be read and is passed over: {}", path, error.what()));
    return std::nullopt;
  }
}

void refuse_if_alive(const AttemptRecord& last, const std::string& path, const std::string& run_dir) {
  if (!last.end.empty()) return;
  const auto age = io::age_seconds(path);
  const OwnerFacts facts{.start_time_of = process_start_time, .job_is_alive = slurm_job_is_alive, .heartbeat_age_s = age};
  const auto& owner = last.owner;
  if (!is_alive(owner, this_owner(), facts)) return;
  throw UsageError(fmt::format(
      "the run in {} is already being run: attempt {}, {}process {} on {}, last sign of life {:.0f} s ago. Wait for "
      "it to end, stop it, or give this run another run.name",
      run_dir, last.number, owner.job_id.empty() ? "" : "job " + owner.job_id + ", ", owner.pid, owner.host,
      std::max(0.0, age)));
}

}  // namespace

std::string attempt_name(int number) { return fmt::format("{:06}", number); }

std::vector<AttemptRecord> read_attempts(const std::string& run_dir) {
  std::vector<AttemptRecord> records;
  for (const int number : numbers_in(run_dir))
    if (auto record = read_record(path_of(run_dir, number))) records.push_back(std::move(*record));
  return records;
}

void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step) {
  auto record = from_text(io::read_file(path_of(run_dir, number)));
  if (!record.end.empty()) return;  // the first to fail has told
  record.end = utc_now();
  record.why = why;
  record.exit_code = exit_code;
  record.last_step = last_step;
  io::replace_file(path_of(run_dir, number), to_text(record));
}

void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code) {
  const auto path = path_of(run_dir, number);
  if (!io::exists(path)) return;
  auto record = read_record(path);
  if (!record || !record->end.empty()) return;
  record->end = utc_now();
  record->why = why;
  record->exit_code = exit_code;
  io::replace_file(path, to_text(*record));
}

Attempt::Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes) {
  record_.owner = this_owner();
  record_.ranks = ranks;
  record_.nodes = std::move(nodes);
  record_.start = utc_now();
  for (bool claimed = false; !claimed;) {
    const auto numbers = numbers_in(run_dir);
    const int last = numbers.empty() ? 0 : numbers.back();
    if (last > 0) {
      const auto path = path_of(run_dir, last);
      if (const auto record = read_record(path)) refuse_if_alive(*record, path, run_dir);
    }
    record_.number = last + 1;
    path_ = path_of(run_dir, record_.number);
    claimed = io::create_exclusive(path_, to_text(record_));
  }
  heart_ = std::thread([this] { beat(); });
}

void Attempt::beat() {
  std::unique_lock lock(mutex_);
  while (!stop_.wait_for(lock, std::chrono::seconds(10), [this] { return ended_; })) io::touch(path_);
}

void Attempt::end(const std::string& why, int exit_code, std::int64_t last_step) {
  record_.end = utc_now();
  record_.why = why;
  record_.exit_code = exit_code;
  record_.last_step = last_step;
  io::replace_file(path_, to_text(record_));
}

Attempt::~Attempt() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  stop_.notify_all();
  if (heart_.joinable()) heart_.join();
}

}  // namespace trainrt::trainer
