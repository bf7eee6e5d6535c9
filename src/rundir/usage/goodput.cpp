#include "rundir/usage/goodput.hpp"

#include <algorithm>
#include <cstdint>

#include "core/host.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

namespace {

// A difference of up to this number of seconds between the last heartbeat and the end of an attempt does not count as a
// gap, because both times are recorded in complete seconds.
constexpr double resolution_s = 2;

/// The work of an attempt, counted in steps or in reports: the count at its start, at its end, and in its last checkpoint.
struct WorkRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t saved = -1;
  bool moved() const { return last > first; }
};

WorkRange in_steps(const AttemptRecord& attempt) { return {attempt.first_step, attempt.last_step, attempt.saved_step}; }
WorkRange in_reports(const AttemptRecord& attempt) {
  return {attempt.first_iteration, attempt.iteration, attempt.saved_iteration};
}

/// Returns the step (or report) up to which the run has kept an attempt's work. This is the lowest step at which one of the
/// `later` attempts began, because attempts repeat all steps after it. Later attempts that made no progress are ignored.
std::int64_t survived(const AttemptRecord& attempt, std::span<const AttemptRecord> later,
                      WorkRange (*range_of)(const AttemptRecord&)) {
  const auto range = range_of(attempt);
  std::int64_t until = range.last;
  bool followed = false;
  for (const auto& other : later) {
    if (other.silent || !range_of(other).moved()) continue;
    followed = true;
    until = std::min(until, range_of(other).first);
  }
  if (!followed && went_wrong(state_of(attempt))) until = std::min(until, range.saved);
  return std::max(until, range.first);
}

/// Returns the fraction of an attempt's steps (or reports) that was lost, 0 to 1. `later` are the later attempts of the
/// run.
double lost_share(const AttemptRecord& attempt, std::span<const AttemptRecord> later) {
  const auto range_of = in_steps(attempt).moved() ? in_steps : in_reports;
  const auto range = range_of(attempt);
  // the lost fraction is unknown, because the runtime saves no checkpoints of a program that does not use its API
  if (attempt.silent) return 0;
  if (!range.moved()) return is_over(state_of(attempt)) && state_of(attempt) != RunState::finished ? 1 : 0;
  return static_cast<double>(range.last - survived(attempt, later, range_of)) /
         static_cast<double>(range.last - range.first);
}

/// Returns the seconds between an attempt's last heartbeat and its end, measured with the calendar clock. All other
/// durations are measured with a monotonic clock, which a change of the calendar clock does not affect.
double unseen_s(const AttemptRecord& attempt) {
  if (attempt.start.empty() || attempt.end.empty()) return 0;
  const double gap = attempt.seen.empty() ? seconds_between(attempt.start, attempt.end) - attempt.timing.total_s()
                                          : seconds_between(attempt.seen, attempt.end);
  return gap > resolution_s ? gap : 0;
}

/// Returns the seconds from the end of attempt `before` to the start of the next, `attempt`; 0 if the run had finished with
/// `before` and was extended later.
double wait_between(const AttemptRecord& before, const AttemptRecord& attempt) {
  if (state_of(before) == RunState::finished) return 0;
  const auto& until = before.end.empty() ? before.seen : before.end;
  if (until.empty() || attempt.start.empty()) return 0;
  return std::max(0.0, seconds_between(until, attempt.start));
}

}  // namespace

double TimeAccount::total_s() const { return waiting_s + startup_s + productive_s + checkpoint_s + lost_s + shutdown_s; }

std::optional<double> TimeAccount::goodput() const {
  if (silent) return std::nullopt;
  return total_s() > 0 ? productive_s / total_s() : 0;
}

TimeAccount& TimeAccount::operator+=(const TimeAccount& other) {
  waiting_s += other.waiting_s;
  startup_s += other.startup_s;
  productive_s += other.productive_s;
  checkpoint_s += other.checkpoint_s;
  lost_s += other.lost_s;
  shutdown_s += other.shutdown_s;
  silent = silent || other.silent;
  return *this;
}

std::vector<TimeAccount> accounts_of(std::span<const AttemptRecord> attempts) {
  std::vector<TimeAccount> accounts;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const auto& attempt = attempts[i];
    const double lost_steps_s = attempt.timing.steps_s * lost_share(attempt, attempts.subspan(i + 1));
    const double trained_unseen_s = attempt.silent ? unseen_s(attempt) : 0;
    accounts.push_back({.waiting_s = i > 0 ? wait_between(attempts[i - 1], attempt) : 0,
                        .startup_s = attempt.timing.startup_s,
                        .productive_s = attempt.timing.steps_s - lost_steps_s + trained_unseen_s,
                        .checkpoint_s = attempt.timing.checkpoint_s,
                        .lost_s = lost_steps_s + unseen_s(attempt) - trained_unseen_s,
                        .shutdown_s = attempt.timing.shutdown_s,
                        .silent = attempt.silent});
  }
  return accounts;
}

TimeAccount sum_of(std::span<const TimeAccount> accounts) {
  TimeAccount sum;
  for (const auto& account : accounts) sum += account;
  return sum;
}

}  // namespace trainrt::rundir
