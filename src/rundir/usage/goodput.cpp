#include "rundir/usage/goodput.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "core/host.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::rundir {

namespace {

// Starts and ends are kept in whole seconds.
constexpr double resolution_s = 2;

/// From where to where an attempt went, and what of it was saved last: in steps, or in reports if it makes no steps.
struct Way {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t saved = -1;
  bool moved() const { return last > first; }
};

Way in_steps(const AttemptRecord& attempt) { return {attempt.first_step, attempt.last_step, attempt.saved_step}; }
Way in_reports(const AttemptRecord& attempt) {
  return {attempt.first_iteration, attempt.iteration, attempt.saved_iteration};
}

/// Up to where an attempt's work survived, as those after it show: an attempt that did not move shows nothing.
std::int64_t survived(const AttemptRecord& attempt, std::span<const AttemptRecord> later,
                      Way (*way_of)(const AttemptRecord&)) {
  const auto way = way_of(attempt);
  std::int64_t until = way.last;
  bool followed = false;
  for (const auto& other : later) {
    if (other.silent || !way_of(other).moved()) continue;
    followed = true;
    until = std::min(until, way_of(other).first);
  }
  if (!followed && went_wrong(state_of(attempt))) until = std::min(until, way.saved);
  return std::max(until, way.first);
}

double lost_share(const AttemptRecord& attempt, std::span<const AttemptRecord> later) {
  const auto way_of = in_steps(attempt).moved() ? in_steps : in_reports;
  const auto way = way_of(attempt);
  if (attempt.silent) return 0;  // what a silent program has saved is not known
  if (!way.moved()) return is_over(state_of(attempt)) && state_of(attempt) != RunState::finished ? 1 : 0;
  return static_cast<double>(way.last - survived(attempt, later, way_of)) / static_cast<double>(way.last - way.first);
}

/// Between the last that the attempt reported and its end. The attempt's own times come from a clock that never jumps; of
/// the calendar's only the shortest span is used, so that a change of the date while it ran counts for nothing.
double unseen_s(const AttemptRecord& attempt) {
  if (attempt.start.empty() || attempt.end.empty()) return 0;
  const double gap = attempt.seen.empty() ? seconds_between(attempt.start, attempt.end) - attempt.timing.total_s()
                                          : seconds_between(attempt.seen, attempt.end);
  return gap > resolution_s ? gap : 0;
}

/// A run that had finished waited for nothing: that it was given more to do later is no time of its own.
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
