#include "rundir/attempts/attempt_files.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/process/processes.hpp"
#include "core/text/text.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"
#include "rundir/records/run_error.hpp"
#include "rundir/storage/run_directory.hpp"

namespace trainrt::rundir {

namespace fs = std::filesystem;

namespace {

std::string record_name(int number) { return "attempts/" + attempt_name(number) + ".json"; }

std::string crash_prefix(int attempt) { return "crash-attempt-" + attempt_name(attempt) + "-"; }

/// Prints a warning, unless this process has already printed the same text: a run that starts reads each record several
/// times. Thread-safe.
void warn_once(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  const std::lock_guard lock(mutex);
  if (printed.insert(text).second) log::warning(text);
}

/// Applies `change` to the record of an attempt that has ended, and writes the record if `change` returns true. Does
/// nothing if the record has no end.
void change_ended(const std::string& run_dir, int number, const std::function<bool(AttemptRecord&)>& change) {
  auto record = read_record(run_dir, number);
  if (record && !record->end.empty() && change(*record)) io::replace_file(record_path(run_dir, number), to_text(*record));
}

double modified_s(const fs::path& path) {
  return std::chrono::duration<double>(fs::last_write_time(path).time_since_epoch()).count();
}

}  // namespace

std::string record_path(const std::string& run_dir, int number) { return run_dir + "/" + record_name(number); }

std::string heartbeat_path(const std::string& run_dir, int number) {
  return run_dir + "/attempts/" + attempt_name(number) + ".pulse";
}

std::vector<int> numbers_of_attempts(const std::string& run_dir, std::string_view extension) {
  std::vector<int> numbers;
  for (const fs::path name : io::list_if_exists(run_dir + "/attempts")) {
    const auto number = parse_integer(name.stem().string());
    if (name.extension() == extension && number && *number > 0 && *number < 1'000'000'000)
      numbers.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::optional<AttemptRecord> read_record(const std::string& run_dir, int number) {
  const auto path = record_path(run_dir, number);
  try {
    auto record = attempt_record_from(io::retried([&] { return io::read_file(path); }));
    if (record.number != number) throw Error(fmt::format("it belongs to attempt {}", record.number));
    return record;
  } catch (const std::exception& error) {
    warn_once(fmt::format("cannot read the attempt record {}; it is ignored: {}", path, error.what()));
    return std::nullopt;
  }
}

void merge_heartbeat(AttemptRecord& record, const std::string& run_dir) {
  const auto path = heartbeat_path(run_dir, record.number);
  if (!record.end.empty() || !io::exists(path)) return;
  try {
    merge_heartbeat_text(record, io::read_file(path));
  } catch (const std::exception&) {
    // Keep the record's own values: another process has just removed the heartbeat file, or a crash of the node has
    // truncated the file.
  }
}

void write_end(const io::FencedDirectory& files, const AttemptRecord& record) {
  files.replace(record_name(record.number), to_text(record));
  io::remove_tree(heartbeat_path(files.path(), record.number));
}

double heartbeat_age_s(const std::string& run_dir, int number) {
  const auto path = record_path(run_dir, number);
  double age = 0;
  try {
    age = io::age_seconds(path);
  } catch (const Error&) {  // without write permission, the clock of this host is used instead of the storage's clock
    age = std::chrono::duration<double>(fs::file_time_type::clock::now() - fs::last_write_time(path)).count();
  }
  std::error_code gone;
  if (const auto heartbeat = heartbeat_path(run_dir, number); fs::exists(heartbeat, gone)) try {
      age -= std::max(0.0, modified_s(heartbeat) - modified_s(path));
    } catch (const fs::filesystem_error&) {
      // another process has just removed the heartbeat file
    }
  return age;
}

std::vector<AttemptRecord> read_attempts(const std::string& run_dir, std::size_t newest) {
  std::vector<AttemptRecord> records;
  auto numbers = numbers_of_attempts(run_dir);
  if (numbers.size() > newest) numbers.erase(numbers.begin(), numbers.end() - static_cast<std::ptrdiff_t>(newest));
  for (const int number : numbers)
    if (auto record = read_record(run_dir, number)) {
      merge_heartbeat(*record, run_dir);
      records.push_back(std::move(*record));
    }
  return records;
}

bool attempt_is_alive(const std::string& run_dir, const AttemptRecord& attempt) {
  if (!attempt.end.empty()) return false;
  const OwnerFacts facts{.start_time_of = process_start_time, .job_is_alive = slurm_job_is_alive, .heartbeat_age_s = [&] {
                           return heartbeat_age_s(run_dir, attempt.number);
                         }};
  return is_alive(attempt.owner, this_owner(), facts);
}

void refuse_if_alive(const std::string& run_dir, const AttemptRecord& attempt) {
  if (!attempt_is_alive(run_dir, attempt)) return;
  const auto& owner = attempt.owner;
  throw RunIsOwned(
      fmt::format("the run in {} is already running: attempt {}, {}process {} on {}, last heartbeat {:.0f} s ago. Wait for "
                  "that attempt to end, or stop it",
                  run_dir, attempt.number, owner.job_id.empty() ? "" : "job " + owner.job_id + ", ", owner.pid, owner.host,
                  std::max(0.0, heartbeat_age_s(run_dir, attempt.number))));
}

bool was_killed(const std::string& run_dir, const AttemptRecord& attempt) {
  if (!attempt.end.empty() || attempt_is_alive(run_dir, attempt)) return false;
  const auto now = read_record(run_dir, attempt.number);  // the end may have been written after `attempt` was read
  return !now || now->end.empty();
}

bool was_killed(const std::string& run_dir, const std::vector<AttemptRecord>& attempts) {
  return !attempts.empty() && was_killed(run_dir, attempts.back());
}

void mark_failed(const std::string& run_dir, int number, const AttemptFailure& failure) {
  auto record = attempt_record_from(io::read_file(record_path(run_dir, number)));
  if (!record.end.empty()) return;  // the rank that failed first has written the end
  merge_heartbeat(record, run_dir);
  record.end = utc_now();
  record.why = failure.why;
  record.exit_code = failure.exit_code;
  record.blamed_node = failure.blamed_node;
  record.mistake = failure.mistake;
  record.last_step = std::max(record.last_step, failure.last_step);
  record.iteration = std::max(record.iteration, failure.iteration);  // the heartbeat may be older than the failure
  write_end(io::FencedDirectory(run_dir, private_directory(run_dir, number)), record);
}

void close_attempt(const std::string& run_dir, int number, const std::string& why, int exit_code,
                   const std::string& blamed_node) {
  const auto path = record_path(run_dir, number);
  if (!io::exists(path)) return;
  auto record = read_record(run_dir, number);
  if (!record || !record->end.empty()) return;
  merge_heartbeat(*record, run_dir);
  const bool is_before_requeue = record->owner.restart_count < this_owner().restart_count;
  record->end = is_before_requeue && !record->seen.empty() ? record->seen : utc_now();
  record->why = why;
  record->exit_code = exit_code;
  record->blamed_node = blamed_node;
  io::replace_file(path, to_text(*record));
  io::remove_tree(heartbeat_path(run_dir, number));
}

void append_cause(const std::string& run_dir, int number, const std::string& cause) {
  change_ended(run_dir, number, [&](AttemptRecord& record) {
    record.why += " (" + cause + ")";
    return true;
  });
}

void set_blamed_node(const std::string& run_dir, int number, const std::string& node) {
  change_ended(run_dir, number, [&](AttemptRecord& record) {
    const bool changes = record.blamed_node.empty() != node.empty();
    if (changes) record.blamed_node = node;
    return changes;
  });
}

bool forbid_restart(const std::string& run_dir) try {
  const auto numbers = numbers_of_attempts(run_dir);
  bool has_end = false;
  if (!numbers.empty())
    change_ended(run_dir, numbers.back(), [&](AttemptRecord& record) {
      has_end = true;
      return !std::exchange(record.is_permanent, true);
    });
  return has_end;
} catch (const std::exception& error) {
  log::warning(fmt::format("cannot record in {} that a restart would fail again: {}", run_dir, error.what()));
  return false;
}

void announce_start(const std::string& run_dir, const std::optional<NextStart>& next) try {
  const auto numbers = numbers_of_attempts(run_dir);
  if (numbers.empty()) return;
  change_ended(run_dir, numbers.back(), [&](AttemptRecord& record) {
    const bool changes = record.next_start || next;
    record.next_start = next;
    return changes;
  });
} catch (const std::exception& error) {
  log::warning(fmt::format("cannot record the start of the next attempt in {}: {}", run_dir, error.what()));
}

std::string crash_report_path(const std::string& run_dir, int attempt, int rank) {
  return fmt::format("{}/logs/{}rank-{:05}.txt", run_dir, crash_prefix(attempt), rank);
}

std::string hang_folder(int attempt) { return "logs/hang-attempt-" + attempt_name(attempt); }

std::string step_times_name(int attempt) { return "logs/steps-attempt-" + attempt_name(attempt) + ".jsonl"; }

std::string crash_summary(const std::string& run_dir, int attempt) try {
  std::string text;
  for (const auto& name : io::list_directory(run_dir + "/logs")) {
    if (!name.starts_with(crash_prefix(attempt))) continue;
    const auto line = first_line(io::read_file(run_dir + "/logs/" + name));
    text += (text.empty() ? "" : "; ") + line.substr(std::min(line.size(), line.find(' ') + 1));
  }
  return text;
} catch (const Error& error) {
  log::warning(std::string("cannot read the crash reports: ") + error.what());
  return {};
}

}  // namespace trainrt::rundir
