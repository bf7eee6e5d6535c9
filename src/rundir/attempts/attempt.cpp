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
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_error.hpp"
#include "rundir/storage/run_directory.hpp"

namespace trainrt::rundir {

namespace {

/// Between signs of life: a young attempt gives them more often, so that one that is killed soon has left how far it was.
double beat_s(double age_s) { return std::clamp(age_s / 4, 1.0, 10.0); }

void refuse_if_alive(const AttemptRecord& last, const std::string& run_dir) {
  if (!attempt_is_alive(run_dir, last)) return;
  const auto& owner = last.owner;
  throw RunIsOwned(
      fmt::format("the run in {} is already being run: attempt {}, {}process {} on {}, last sign of life {:.0f} s ago. "
                  "Wait for it to end, or stop it",
                  run_dir, last.number, owner.job_id.empty() ? "" : "job " + owner.job_id + ", ", owner.pid, owner.host,
                  std::max(0.0, heartbeat_age_s(run_dir, last.number))),
      run_dir, last.number);
}

void close_for(const io::FencedDirectory& files, const AttemptRecord& me, AttemptRecord gone) {
  if (!gone.end.empty()) return;
  const auto& run_dir = files.path();
  take_heartbeat(gone, run_dir);
  gone.end = gone.seen.empty() ? gone.start : gone.seen;
  const auto crash = crash_of(run_dir, gone.number);
  gone.why = crash.empty() ? why_without_end(gone.owner, me.owner) : "failed: " + crash;
  write_end(files, gone);
}

/// Gives the attempt before `me`, and any that left a heartbeat, an end if it has none.
void close_earlier(const io::FencedDirectory& files, const AttemptRecord& me, const std::optional<AttemptRecord>& before) {
  const auto& run_dir = files.path();
  if (before) close_for(files, me, *before);
  for (const int number : numbers_of_attempts(run_dir, ".pulse")) {
    if (number >= me.number) continue;
    const bool has_record = io::exists(record_path(run_dir, number));
    if (const auto gone = has_record ? read_record(run_dir, number) : std::nullopt) close_for(files, me, *gone);
    io::remove_tree(heartbeat_path(run_dir, number));
  }
}

/// A record that could be made only at a second try may have been made by the first.
bool is_own(const std::string& run_dir, int number, const Owner& me) {
  const auto record = read_record(run_dir, number);
  return record && record->owner.pid_scope == me.pid_scope && record->owner.host == me.host &&
         record->owner.pid == me.pid && record->owner.pid_start_time == me.pid_start_time;
}

/// Another process has the private directory of an attempt and is about to write its record: waits for that. False if
/// it takes so long that the process must have been killed in between.
bool is_being_claimed(const std::string& private_dir, const std::string& record) {
  constexpr double limit_s = 5;
  while (!io::exists(record)) {
    if (!io::exists(private_dir)) return true;  // it saw that the number is taken
    if (io::age_seconds(private_dir) > limit_s) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

/// When Slurm started the job; "" if it does not tell (before 22.05).
std::string job_start(const Environment& environment) {
  const auto epoch_s = parse_integer(environment.text("SLURM_JOB_START_TIME").value_or(""));
  constexpr std::int64_t latest_s = 100'000'000'000;  // the year 5138
  return epoch_s && *epoch_s > 0 && *epoch_s < latest_s
             ? utc_before(std::difftime(std::time(nullptr), static_cast<std::time_t>(*epoch_s)))
             : "";
}

}  // namespace

void take_reading(AttemptRecord& record, const Meter& meter) {
  const auto reading = meter.read();
  record.first_step = reading.first_step;
  record.last_step = reading.last_step;
  record.saved_step = reading.saved_step;
  record.saved_checkpoint = reading.saved_checkpoint;
  record.first_iteration = reading.first_iteration;
  record.saved_iteration = reading.saved_iteration;
  record.iteration = reading.iteration;
  record.timing = reading.timing;
  record.silent = reading.silent;
  record.position = reading.position;
  record.expected = reading.expected;
  record.unreported_s = reading.unreported_s;
  record.job_end = reading.job_left_s ? utc_before(-*reading.job_left_s) : "";
  record.seen = utc_now();
}

Attempt::Attempt(const std::string& run_dir, int ranks, std::vector<std::string> nodes, Meter& meter, bool accepts_missing)
    : files_(run_dir, ""), meter_(meter) {
  record_.accepted_missing = accepts_missing;
  record_.owner = this_owner();
  record_.ranks = ranks;
  record_.nodes = std::move(nodes);
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
    log::warning(std::string("the record of an earlier attempt stays without an end: ") + error.what());
  }
}

std::optional<AttemptRecord> Attempt::claim() {
  const auto& run_dir = files_.path();
  for (int tries = 0;; ++tries) {
    pause_between_claims(tries);
    const auto numbers = io::retried([&] { return numbers_of_attempts(run_dir); });
    const int last = numbers.empty() ? 0 : numbers.back();
    auto before = last > 0 ? read_record(run_dir, last) : std::nullopt;
    if (before) refuse_if_alive(*before, run_dir);
    const int started = io::retried([&] { return newest_private_directory(run_dir); });
    if (started > last && is_being_claimed(private_directory(run_dir, started), record_path(run_dir, started))) continue;
    record_.number = std::max(last, started) + 1;
    files_ = {run_dir, private_directory(run_dir, record_.number)};
    if (!io::retried([&] { return io::make_directory(files_.private_dir()); })) continue;
    const auto path = record_path(run_dir, record_.number);
    const bool is_new = io::retried([&] { return io::create_exclusive(path, to_text(record_)); });
    if (is_new || is_own(run_dir, record_.number, record_.owner)) return before;
    io::remove_tree(files_.private_dir());
  }
}

/// Others may claim at the same moment; a listing that never shows what is taken must not keep this process for ever.
void Attempt::pause_between_claims(int tries) const {
  constexpr int most_tries = 600;
  if (tries == 0) return;
  if (tries > most_tries)
    throw Error(
        fmt::format("cannot claim the run in {}: the numbers of attempts that its listing shows as free are taken "
                    "(the last: {}). Start the same command again when the storage is well",
                    files_.path(), record_.number));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// Touches the record even if the heartbeat cannot be written: a full disk is no reason to look dead.
void Attempt::send_heartbeats() {
  const auto path = record_path(files_.path(), record_.number);
  do {
    io::touch(path);
    try {
      write_heartbeat();
    } catch (const Error&) {
      // The next one may fit; what it is for is known without it too, less exactly.
    }
  } while (meter_.wait_for_news(beat_s(monotonic_seconds() - meter_.started_s())));
}

void Attempt::write_heartbeat() const {
  AttemptRecord now;
  now.number = record_.number;
  take_reading(now, meter_);
  io::replace_file_unsynced(heartbeat_path(files_.path(), record_.number), files_.temporary_path("heartbeat"),
                            heartbeat_text(now));
}

/// If srun has left before the ranks came to their end, `trainrt supervise` has closed the record already, and knows
/// from Slurm what they cannot know: that is kept.
std::string Attempt::with_cause(const std::string& why) const {
  const auto closed = read_record(files_.path(), record_.number);
  if (!closed || !closed->why.starts_with(ended_by_slurm)) return why;
  return why + " (" + trim(closed->why.substr(ended_by_slurm.size() + 1)) + ")";
}

void Attempt::end(const std::string& why, int exit_code, std::int64_t last_step, const std::string& blamed_node) {
  stop_heartbeats();
  take_reading(record_, meter_);
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
