#include "trainer/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/fault_point.hpp"
#include "core/host.hpp"
#include "core/log.hpp"
#include "core/options.hpp"
#include "io/exclusive.hpp"
#include "io/file.hpp"
#include "io/patience.hpp"
#include "trainer/crash_report.hpp"
#include "trainer/run_directory.hpp"

namespace trainrt::trainer {

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

/// Between signs of life: a young attempt gives them more often, so that one that is killed soon has told how far it was.
double beat_s(double age_s) { return std::clamp(age_s / 4, 1.0, 10.0); }

std::string record_name(int number) { return "attempts/" + attempt_name(number) + ".json"; }
std::string path_of(const std::string& run_dir, int number) { return run_dir + "/" + record_name(number); }

std::string pulse_path_of(const std::string& run_dir, int number) {
  return run_dir + "/attempts/" + attempt_name(number) + ".pulse";
}

Json to_json(const Timing& timing) {
  return {{"startup_s", timing.startup_s},
          {"steps_s", timing.steps_s},
          {"checkpoint_s", timing.checkpoint_s},
          {"shutdown_s", timing.shutdown_s}};
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
               {"saved_step", record.saved_step < 0 ? Json() : Json(record.saved_step)},
               {"iteration", record.iteration},
               {"timing", to_json(record.timing)},
               {"seen", record.seen.empty() ? Json() : Json(record.seen)},
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

/// What record and pulse have in common.
void take_numbers(AttemptRecord& record, const Json& json) {
  record.first_step = value_or<std::int64_t>(json, "first_step", 0);
  record.last_step = value_or<std::int64_t>(json, "last_step", 0);
  record.saved_step = value_or<std::int64_t>(json, "saved_step", -1);
  record.iteration = value_or<std::int64_t>(json, "iteration", 0);
  record.seen = value_or<std::string>(json, "seen", "");
  const auto timing = value_or(json, "timing", Json::object());
  record.timing = {.startup_s = value_or(timing, "startup_s", 0.0),
                   .steps_s = value_or(timing, "steps_s", 0.0),
                   .checkpoint_s = value_or(timing, "checkpoint_s", 0.0),
                   .shutdown_s = value_or(timing, "shutdown_s", 0.0)};
}

std::string pulse_text(const AttemptRecord& record) {
  const Json json = {{"attempt", record.number},
                     {"seen", record.seen},
                     {"first_step", record.first_step},
                     {"last_step", record.last_step},
                     {"saved_step", record.saved_step < 0 ? Json() : Json(record.saved_step)},
                     {"iteration", record.iteration},
                     {"timing", to_json(record.timing)}};
  return json.dump(2) + "\n";
}

/// Throws where a time is none.
void check_times(const AttemptRecord& record) {
  for (const auto* time : {&record.start, &record.end, &record.seen})
    if (!time->empty()) seconds_between(*time, *time);
}

AttemptRecord from_text(const std::string& text) {
  const auto json = Json::parse(text);
  AttemptRecord record;
  record.number = json.at("attempt");
  record.start = value_or<std::string>(json, "start", "");
  record.end = value_or<std::string>(json, "end", "");
  record.why = value_or<std::string>(json, "why", "");
  record.exit_code = value_or(json, "exit_code", -1);
  take_numbers(record, json);
  check_times(record);
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

/// Numbers of the attempts that have a file of this kind, readable or not, in order.
std::vector<int> numbers_in(const std::string& run_dir, std::string_view extension = ".json") {
  std::vector<int> numbers;
  if (!io::exists(run_dir + "/attempts")) return numbers;
  for (const fs::path name : io::list_directory(run_dir + "/attempts")) {
    const auto number = parse_integer(name.stem().string());
    if (name.extension() == extension && number && *number > 0 && *number < 1'000'000'000)
      numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

/// nullopt, with a warning, where a record cannot be read: then nobody can be shown to be alive by it.
std::optional<AttemptRecord> read_record(const std::string& path) {
  try {
    return from_text(io::patiently([&] { return io::read_file(path); }));
  } catch (const std::exception& error) {
    log::warning(fmt::format("the record {} cannot be read and is passed over: {}", path, error.what()));
    return std::nullopt;
  }
}

/// A record without an end gets the numbers of its last sign of life, where there is one that can be read.
void take_pulse(AttemptRecord& record, const std::string& run_dir) {
  const auto path = pulse_path_of(run_dir, record.number);
  if (!record.end.empty() || !io::exists(path)) return;
  try {
    auto merged = record;
    take_numbers(merged, Json::parse(io::read_file(path)));
    check_times(merged);
    record = std::move(merged);
  } catch (const std::exception&) {
    // It was just merged by somebody else, or a crash of the node cut it: the record alone has to do.
  }
}

/// Puts a record that has its end now in its place, and removes what it has taken up.
void write_end(const io::FencedDirectory& files, const AttemptRecord& record) {
  files.replace(record_name(record.number), to_text(record));
  io::remove_tree(pulse_path_of(files.path(), record.number));
}

double by_file_clock(const fs::path& path) {
  return std::chrono::duration<double>(fs::last_write_time(path).time_since_epoch()).count();
}

/// Since the last touch of the record or the last pulse.
double heartbeat_age_s(const std::string& run_dir, int number) {
  const auto path = path_of(run_dir, number);
  double age = 0;
  try {
    age = io::age_seconds(path);
  } catch (const Error&) {  // who may only read makes do with this host's clock
    age = std::chrono::duration<double>(fs::file_time_type::clock::now() - fs::last_write_time(path)).count();
  }
  std::error_code gone;
  if (const auto pulse = pulse_path_of(run_dir, number); fs::exists(pulse, gone)) try {
      age -= std::max(0.0, by_file_clock(pulse) - by_file_clock(path));
    } catch (const fs::filesystem_error&) {
      // merged this moment
    }
  return age;
}

void refuse_if_alive(const AttemptRecord& last, const std::string& run_dir) {
  if (!attempt_is_alive(run_dir, last)) return;
  const auto& owner = last.owner;
  throw UsageError(fmt::format(
      "the run in {} is already being run: attempt {}, {}process {} on {}, last sign of life {:.0f} s ago. Wait for "
      "it to end, stop it, or give this run another run.name",
      run_dir, last.number, owner.job_id.empty() ? "" : "job " + owner.job_id + ", ", owner.pid, owner.host,
      std::max(0.0, heartbeat_age_s(run_dir, last.number))));
}

void close_for(const io::FencedDirectory& files, const AttemptRecord& me, AttemptRecord gone) {
  if (!gone.end.empty()) return;
  const auto& run_dir = files.path();
  take_pulse(gone, run_dir);
  gone.end = gone.seen.empty() ? gone.start : gone.seen;
  const auto crash = crash_of(run_dir, gone.number);
  gone.why = crash.empty() ? why_without_end(gone.owner, me.owner) : "failed: " + crash;
  write_end(files, gone);
}

/// Gives the attempt before `me`, and any that left a pulse, an end where it has none.
void close_earlier(const io::FencedDirectory& files, const AttemptRecord& me, const std::optional<AttemptRecord>& before) {
  const auto& run_dir = files.path();
  if (before) close_for(files, me, *before);
  for (const int number : numbers_in(run_dir, ".pulse")) {
    if (number >= me.number) continue;
    const auto path = path_of(run_dir, number);
    if (const auto gone = io::exists(path) ? read_record(path) : std::nullopt) close_for(files, me, *gone);
    io::remove_tree(pulse_path_of(run_dir, number));
  }
}

/// A record that could be made only at a second try may have been made by the first.
bool is_own(const std::string& path, const Owner& me) {
  const auto record = read_record(path);
  return record && record->owner.pid_scope == me.pid_scope && record->owner.host == me.host &&
         record->owner.pid == me.pid && record->owner.pid_start_time == me.pid_start_time;
}

/// Another process has the private directory of an attempt and is about to write its record: waits for that. False where
/// it takes so long that the process must have been killed in between.
bool is_being_claimed(const std::string& private_dir, const std::string& record) {
  constexpr double patience_s = 5;
  while (!io::exists(record)) {
    if (!io::exists(private_dir)) return true;  // it saw that the number is taken
    if (io::age_seconds(private_dir) > patience_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace

std::string attempt_name(int number) { return fmt::format("{:06}", number); }

std::vector<AttemptRecord> read_attempts(const std::string& run_dir, std::size_t newest) {
  std::vector<AttemptRecord> records;
  auto numbers = numbers_in(run_dir);
  if (numbers.size() > newest) numbers.erase(numbers.begin(), numbers.end() - static_cast<std::ptrdiff_t>(newest));
  for (const int number : numbers)
    if (auto record = read_record(path_of(run_dir, number))) {
      take_pulse(*record, run_dir);
      records.push_back(std::move(*record));
    }
  return records;
}

bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt) {
  if (!attempt.end.empty()) return false;
  const OwnerFacts facts{.start_time_of = process_start_time,
                         .job_is_alive = slurm_job_is_alive,
                         .heartbeat_age_s = heartbeat_age_s(run_dir, attempt.number)};
  return is_alive(attempt.owner, this_owner(), facts);
}

std::string_view state_of(const AttemptRecord& attempt) {
  if (attempt.end.empty()) return "running";
  switch (attempt.exit_code) {
    case static_cast<int>(ExitCode::finished):
      return "finished";
    case static_cast<int>(ExitCode::stopped):
      return "stopped";
    default:
      return attempt.why.starts_with("failed") || attempt.why.starts_with("stopped") ? "failed" : "killed";
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

void mark_failed(const std::string& run_dir, int number, const std::string& why, int exit_code, std::int64_t last_step) {
  auto record = from_text(io::read_file(path_of(run_dir, number)));
  if (!record.end.empty()) return;  // the first to fail has told
  take_pulse(record, run_dir);
  record.end = utc_now();
  record.why = why;
  record.exit_code = exit_code;
  record.last_step = std::max(record.last_step, last_step);
  write_end(io::FencedDirectory(run_dir, private_directory(run_dir, number)), record);
}

void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code) {
  const auto path = path_of(run_dir, number);
  if (!io::exists(path)) return;
  auto record = read_record(path);
  if (!record || !record->end.empty()) return;
  take_pulse(*record, run_dir);
  const bool of_an_earlier_job = record->owner.restart_count < this_owner().restart_count;
  record->end = of_an_earlier_job && !record->seen.empty() ? record->seen : utc_now();
  record->why = why;
  record->exit_code = exit_code;
  io::replace_file(path, to_text(*record));
  io::remove_tree(pulse_path_of(run_dir, number));
}

void note_cause(const std::string& run_dir, int number, const std::string& cause) {
  const auto path = path_of(run_dir, number);
  auto record = read_record(path);
  if (!record || record->end.empty()) return;
  record->why += " (" + cause + ")";
  io::replace_file(path, to_text(*record));
}

Attempt::Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter)
    : files_(run_dir, ""), meter_(meter) {
  record_.owner = this_owner();
  record_.ranks = ranks;
  record_.nodes = std::move(nodes);
  record_.start = utc_before(monotonic_seconds() - meter.started_s());
  const auto before = claim();
  fault_point("claimed");
  fence_off_older(run_dir, record_.number);
  heart_ = std::thread([this] { beat(); });
  try {
    close_earlier(files_, record_, before);
  } catch (const Error& error) {
    log::warning(std::string("the record of an earlier attempt stays without an end: ") + error.what());
  }
}

std::optional<AttemptRecord> Attempt::claim() {
  const auto& run_dir = files_.path();
  for (;;) {
    const auto numbers = io::patiently([&] { return numbers_in(run_dir); });
    const int last = numbers.empty() ? 0 : numbers.back();
    const auto before = last > 0 ? read_record(path_of(run_dir, last)) : std::nullopt;
    if (before) refuse_if_alive(*before, run_dir);
    const int started = io::patiently([&] { return newest_private_directory(run_dir); });
    if (started > last && is_being_claimed(private_directory(run_dir, started), path_of(run_dir, started))) continue;
    record_.number = std::max(last, started) + 1;
    files_ = {run_dir, private_directory(run_dir, record_.number)};
    if (!io::patiently([&] { return io::make_directory(files_.private_dir()); })) continue;
    const auto path = path_of(run_dir, record_.number);
    if (io::patiently([&] { return io::create_exclusive(path, to_text(record_)); }) || is_own(path, record_.owner))
      return before;
    io::remove_tree(files_.private_dir());
  }
}

/// Touches the record even where the pulse cannot be written: a full disk is no reason to look dead.
void Attempt::beat() {
  const auto path = path_of(files_.path(), record_.number);
  do {
    io::touch(path);
    try {
      write_pulse();
    } catch (const Error&) {
      // The next one may fit; what it is for is told as well without it, less exactly.
    }
  } while (meter_.wait_for_news(beat_s(monotonic_seconds() - meter_.started_s())));
}

void Attempt::take_reading(AttemptRecord& record) const {
  const auto reading = meter_.read();
  record.first_step = reading.first_step;
  record.last_step = reading.last_step;
  record.saved_step = reading.saved_step;
  record.iteration = reading.iteration;
  record.timing = reading.timing;
  record.seen = utc_now();
}

void Attempt::write_pulse() const {
  AttemptRecord now;
  now.number = record_.number;
  take_reading(now);
  io::replace_file_lightly(pulse_path_of(files_.path(), record_.number), files_.aside("pulse"), pulse_text(now));
}

void Attempt::end(const std::string& why, int exit_code, std::int64_t last_step) {
  stop_heart();
  take_reading(record_);
  record_.end = utc_now();
  record_.why = why;
  record_.exit_code = exit_code;
  record_.last_step = last_step;
  io::patiently([&] { write_end(files_, record_); });
}

void Attempt::stop_heart() {
  meter_.release();
  if (heart_.joinable()) heart_.join();
}

Attempt::~Attempt() { stop_heart(); }

}  // namespace trainrt::trainer
