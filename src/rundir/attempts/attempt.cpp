#include "rundir/attempts/attempt.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/environment.hpp"
#include "core/fault_point.hpp"
#include "core/host.hpp"
#include "core/options.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "core/version.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/recorded_memory.hpp"
#include "rundir/storage/run_directory.hpp"

namespace trainrt::rundir {

namespace {

/// Returns the seconds until the next heartbeat of an attempt that began `age_s` seconds ago. A young attempt writes
/// heartbeats more often, so that its progress is known even if it is killed soon.
double heartbeat_interval_s(double age_s) { return std::clamp(age_s / 4, 1.0, 10.0); }

/// Writes an end into the record of the earlier attempt `gone`, unless the record has an end. Called by the next attempt,
/// `me`.
void write_missing_end(const io::FencedDirectory& files, const AttemptRecord& me, AttemptRecord gone) {
  if (!gone.end.empty()) return;
  const auto& run_dir = files.path();
  merge_heartbeat(gone, run_dir);
  gone.end = gone.seen.empty() ? gone.start : gone.seen;
  const auto crash = crash_summary(run_dir, gone.number);
  gone.why = crash.empty() ? why_without_end(gone.owner, me.owner) : "failed: " + crash;
  write_end(files, gone);
}

/// Writes an end into each record of an earlier attempt that has no end. Only these records are examined: that of `before`,
/// the attempt before `me`, and those of all attempts with a heartbeat file. Removes these heartbeat files.
void close_earlier(const io::FencedDirectory& files, const AttemptRecord& me, const std::optional<AttemptRecord>& before) {
  const auto& run_dir = files.path();
  if (before) write_missing_end(files, me, *before);
  for (const int number : numbers_of_attempts(run_dir, ".pulse")) {
    if (number >= me.number) continue;
    const bool has_record = io::exists(record_path(run_dir, number));
    if (const auto gone = has_record ? read_record(run_dir, number) : std::nullopt) write_missing_end(files, me, *gone);
    io::remove_tree(heartbeat_path(run_dir, number));
  }
}

/// Returns whether the record of attempt `number` was written by the process `me`. If the creation of the record was
/// retried, an earlier try may have created the file although it reported an error.
bool is_own(const std::string& run_dir, int number, const Owner& me) {
  const auto record = read_record(run_dir, number);
  return record && record->owner.pid_scope == me.pid_scope && record->owner.host == me.host &&
         record->owner.pid == me.pid && record->owner.pid_start_time == me.pid_start_time;
}

/// Waits for another process that has created the private directory of an attempt, until it has written the attempt's
/// record. Returns false if the directory is older than 5 s and the record is missing: the process must have been killed.
bool is_being_claimed(const std::string& private_dir, const std::string& record) {
  constexpr double limit_s = 5;
  while (!io::exists(record)) {
    // the other process has removed the directory again, and does not use this attempt number
    if (!io::exists(private_dir)) return true;
    if (io::age_seconds(private_dir) > limit_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

/// Returns the time at which Slurm started the job, UTC; "" if unknown (Slurm before 22.05).
std::string job_start(const Environment& environment) {
  const auto epoch_s = parse_integer(environment.text("SLURM_JOB_START_TIME").value_or(""));
  constexpr std::int64_t latest_s = 100'000'000'000;  // the year 5138
  return epoch_s && *epoch_s > 0 && *epoch_s < latest_s
             ? utc_before(std::difftime(std::time(nullptr), static_cast<std::time_t>(*epoch_s)))
             : "";
}

}  // namespace

void fill_from_meter(AttemptRecord& record, const Meter& meter) {
  const auto reading = meter.read();
  record.first_step = reading.first_step;
  record.last_step = reading.last_step;
  record.saved_step = reading.saved_step;
  record.saved_checkpoint = reading.saved_checkpoint;
  record.first_iteration = reading.first_iteration;
  record.saved_iteration = reading.saved_iteration;
  record.iteration = reading.iteration;
  record.from_copy = reading.from_copy;
  record.timing = reading.timing;
  record.silent = reading.silent;
  record.position = reading.position;
  record.expected = reading.expected;
  record.unreported_s = reading.unreported_s;
  record.job_end = reading.job_left_s ? utc_before(-*reading.job_left_s) : "";
  record.seen = utc_now();
}

Attempt::Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter, bool accepts_missing,
                 BitFacts bits)
    : files_(run_dir, ""), meter_(meter) {
  record_.bits = std::move(bits);
  record_.accepted_missing = accepts_missing;
  record_.owner = this_owner();
  record_.trainrt_version = version;
  record_.ranks = ranks;
  record_.nodes = std::move(nodes);
  record_.address = host_address();
  record_.silent = meter.is_silent();
  record_.position = meter.read().position;
  record_.start = utc_before(monotonic_seconds() - meter.started_s());
  record_.job_start = job_start(Environment::of_process());
  const auto before = claim();
  fault_point("claimed");
  fence_off_older(run_dir, record_.number);
  heartbeats_ = std::thread([this] { send_heartbeats(); });
  try {
    close_earlier(files_, record_, before);
  } catch (const Error& error) {
    log::warning(std::string("cannot record the end of an earlier attempt: ") + error.what());
  }
}

std::optional<AttemptRecord> Attempt::claim() {
  const auto& run_dir = files_.path();
  for (int tries = 0;; ++tries) {
    pause_between_claims(tries);
    const auto numbers = io::retried([&] { return numbers_of_attempts(run_dir); });
    const int last = numbers.empty() ? 0 : numbers.back();
    auto before = last > 0 ? read_record(run_dir, last) : std::nullopt;
    if (before) refuse_if_alive(run_dir, *before);
    const int started = io::retried([&] { return newest_private_directory(run_dir); });
    if (started > last && is_being_claimed(private_directory(run_dir, started), record_path(run_dir, started))) continue;
    record_.number = std::max(last, started) + 1;
    record_.memory_attempt = before ? attempt_with_memory(run_dir, *before) : 0;
    files_ = {run_dir, private_directory(run_dir, record_.number)};
    if (!io::retried([&] { return io::make_directory(files_.private_dir()); })) continue;
    const auto path = record_path(run_dir, record_.number);
    const bool is_new = io::retried([&] { return io::create_exclusive(path, to_text(record_)); });
    if (is_new || is_own(run_dir, record_.number, record_.owner)) return before;
    io::remove_tree(files_.private_dir());
  }
}

/// Waits before the next try to claim an attempt number, which other processes may try to claim at the same time. Throws
/// Error after many tries, because the storage may show an outdated directory listing permanently.
void Attempt::pause_between_claims(int tries) const {
  constexpr int max_tries = 600;
  if (tries == 0) return;
  if (tries > max_tries)
    throw Error(
        fmt::format("cannot claim the run in {}: attempt number {} is taken, but the directory listing does not show it. "
                    "Run the same command again when the storage works",
                    files_.path(), record_.number));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// Function of the heartbeat thread: writes heartbeats until stop_heartbeats() is called. Updates the modification time
/// (mtime) of the record even if the heartbeat file cannot be written, so that other processes do not consider the
/// attempt dead because of a full disk.
void Attempt::send_heartbeats() {
  const auto path = record_path(files_.path(), record_.number);
  do {
    io::touch(path);
    try {
      write_heartbeat();
    } catch (const Error&) {
      // Ignore the error: without the heartbeat file, other processes only know less about the attempt's progress.
    }
  } while (meter_.wait_for_update(heartbeat_interval_s(monotonic_seconds() - meter_.started_s())));
}

void Attempt::write_heartbeat() const {
  AttemptRecord now;
  now.number = record_.number;
  fill_from_meter(now, meter_);
  io::replace_file_unsynced(heartbeat_path(files_.path(), record_.number), files_.temporary_path("heartbeat"),
                            heartbeat_text(now));
}

/// Returns `why`, the reason for this attempt's end. If `trainrt supervise` has already recorded a cause that Slurm
/// reported, such as a preemption, this cause is appended in parentheses. This happens if srun exits before the ranks do.
std::string Attempt::with_cause(const std::string& why) const {
  const auto closed = read_record(files_.path(), record_.number);
  if (!closed || !closed->why.starts_with(ended_by_slurm)) return why;
  return why + " (" + trim(closed->why.substr(ended_by_slurm.size() + 1)) + ")";
}

void Attempt::end(const std::string& why, int exit_code, std::int64_t last_step, const std::string& blamed_node) {
  stop_heartbeats();
  fill_from_meter(record_, meter_);
  record_.end = utc_now();
  record_.why = with_cause(why);
  record_.exit_code = exit_code;
  record_.last_step = last_step;
  record_.blamed_node = blamed_node;
  io::retried([&] { write_end(files_, record_); });
}

void Attempt::stop_heartbeats() {
  meter_.release();
  if (heartbeats_.joinable()) heartbeats_.join();
}

Attempt::~Attempt() { stop_heartbeats(); }

}  // namespace trainrt::rundir
