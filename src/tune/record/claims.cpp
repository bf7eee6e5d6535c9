#include "tune/record/claims.hpp"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/process/processes.hpp"
#include "io/files/exclusive.hpp"
#include "io/files/file.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/owner.hpp"

namespace trainrt::tune {

namespace {

constexpr double min_seconds_between_checks = 5;  // a check may call a Slurm command
constexpr double max_silence_s = 30;              // age of a heartbeat after which its process counts as dead

/// Returns whether no live process changes the file: it does not exist, or its last change is older than max_silence_s.
bool is_silent(const std::string& path) { return !io::exists(path) || io::age_seconds(path) > max_silence_s; }

std::int64_t reports_of(const Trial& trial) { return trial.reports.empty() ? 0 : trial.reports.rbegin()->first.iteration; }

}  // namespace

bool run_is_alive(const std::string& run_dir) {
  if (!std::filesystem::exists(run_dir + "/attempts")) return false;
  const auto newest = rundir::read_attempts(run_dir, 1);
  return !newest.empty() && newest.back().end.empty() && rundir::attempt_is_alive(run_dir, newest.back());
}

std::string claim_file(const Sweep& sweep, std::uint64_t trial, int attempt) {
  return fmt::format("{}/{:06}.{:04}", sweep.claims(), trial, attempt);
}

std::optional<Claim> Claims::next(const History& history, const Scheduler& scheduler) {
  static std::mutex turn;  // create_exclusive() requires that one thread at a time creates files of one name
  const std::lock_guard lock(turn);
  if (scheduler.takes_turns())
    if (const auto found = fresh(history)) return found;
  if (const auto found = interrupted(history, scheduler)) return found;
  if (const auto found = fresh(history)) return found;
  return abandoned(history, scheduler);
}

bool Claims::is_running(const History& history, std::uint64_t trial) {
  const auto& known = history.trial(trial);
  return known.state == Trial::State::running && runs(history, trial, known.generation, known.attempt);
}

std::optional<Claim> Claims::interrupted(const History& history, const Scheduler& scheduler) {
  std::vector<std::pair<std::int64_t, std::uint64_t>> waiting;
  for (const auto& [number, trial] : history.trials())
    if (!trial.is_done(sweep_.max_failures()) && trial.state != Trial::State::running)
      waiting.emplace_back(scheduler.takes_turns() ? reports_of(trial) : 0, number);
  std::ranges::sort(waiting);
  for (const auto& [reports, number] : waiting) {
    const auto standing = scheduler.verdict_on_paused(number).kind;
    const int attempt = history.trials().at(number).attempt + 1;
    const bool is_paused = history.trials().at(number).state == Trial::State::paused;
    if (standing != Verdict::Kind::pause && claim(number, attempt))
      return Claim{number, attempt, is_paused && standing == Verdict::Kind::stop};
  }
  return std::nullopt;
}

std::optional<Claim> Claims::fresh(const History& history) {
  for (; next_fresh_ < sweep_.trials(); ++next_fresh_)
    if (!history.trials().contains(next_fresh_) && claim(next_fresh_, 1)) return Claim{next_fresh_++, 1};
  return std::nullopt;
}

/// Claims a trial of a process that has died, before or after it wrote a first record of the trial. The trial runs
/// again even if the scheduler has decided to end it, because its files may be incomplete: the new attempt continues
/// from the trial's checkpoint, and then ends (TrialCallback::on_restored()).
std::optional<Claim> Claims::abandoned(const History& history, const Scheduler& scheduler) {
  for (std::uint64_t number = 0; number < sweep_.trials(); ++number) {
    const auto known = history.trials().find(number);
    if (known != history.trials().end() && known->second.is_done(sweep_.max_failures())) continue;
    if (scheduler.verdict_on_paused(number).kind == Verdict::Kind::pause) continue;
    const int generation = known == history.trials().end() ? 1 : known->second.generation;
    const int begun = known == history.trials().end() ? 0 : known->second.attempt;
    int attempt = std::max(begun, 1);
    while (std::filesystem::exists(claim_file(sweep_, number, attempt + 1))) ++attempt;
    if (!runs(history, number, generation, attempt) && claim(number, attempt + 1)) return Claim{number, attempt + 1};
  }
  return std::nullopt;
}

bool Claims::claim(std::uint64_t trial, int attempt) const {
  return io::create_exclusive(claim_file(sweep_, trial, attempt), std::to_string(writer_));
}

std::optional<int> Claims::writer_of(std::uint64_t trial, int attempt) const {
  const auto path = claim_file(sweep_, trial, attempt);
  if (!std::filesystem::exists(path)) return std::nullopt;
  const auto number = parse_integer(io::read_file(path));
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

/// Returns whether the attempt is running: the process that claimed it is alive, or the run that this process started
/// is alive. If the claim cannot be read, the age of its file decides whether the process is alive.
bool Claims::runs(const History& history, std::uint64_t trial, int generation, int attempt) {
  constexpr int nobody = 0;
  const auto writer = writer_of(trial, attempt);
  if (writer == writer_) return false;
  const auto now_s = monotonic_seconds();
  auto& asked_at_s = alive_at_s_[writer.value_or(nobody)];
  if (writer && asked_at_s > 0 && now_s < asked_at_s + min_seconds_between_checks) return true;
  const bool claimer_lives = writer ? is_alive(history, *writer) : !is_silent(claim_file(sweep_, trial, attempt));
  if (!claimer_lives && !run_is_alive(sweep_.directory() + "/" + sweep_.name_of(trial, generation))) return false;
  asked_at_s = now_s;
  return true;
}

bool Claims::is_alive(const History& history, int writer) const {
  const auto file = journal_file(sweep_.journal(), writer);
  const auto owner = history.writers().find(writer);
  // Without a readable first record of the process, the age of its journal file decides: the record may not be written
  // yet, or the file was damaged or removed.
  if (owner == history.writers().end() || !io::exists(file)) return !is_silent(file);
  const rundir::OwnerFacts facts{.start_time_of = process_start_time,
                                 .job_is_alive = rundir::slurm_job_is_alive,
                                 .heartbeat_age_s = [&] { return io::age_seconds(file); }};
  return rundir::is_alive(owner->second, rundir::this_owner(), facts);
}

}  // namespace trainrt::tune
