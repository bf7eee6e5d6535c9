#include "rundir/usage/forecast.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/host.hpp"
#include "core/text/text.hpp"
#include "rundir/usage/goodput.hpp"

namespace trainrt::rundir {

namespace {

constexpr double min_training_s = 2;
// If the last attempt has made at least this number of iterations, the forecast uses the speed of this attempt alone.
constexpr double min_iterations = 5;
constexpr double stop_early_s = 15;
// maximum wait before an automatic restart within a job; after a longer wait, a user has resumed the run
constexpr double max_back_off_s = 300;
constexpr double reserve = 1.05;
constexpr double rounding_s = 300;

bool is_observed(const AttemptRecord& attempt) { return attempt.silent && attempt.position; }

double begin_of(const AttemptRecord& attempt) {
  return static_cast<double>(is_observed(attempt) ? attempt.first_step : attempt.first_iteration);
}

double end_of(const AttemptRecord& attempt) {
  return is_observed(attempt) ? std::max(*attempt.position, 0.0) : static_cast<double>(attempt.iteration);
}

bool moved(const AttemptRecord& attempt) { return attempt.shows_progress() && end_of(attempt) > begin_of(attempt); }

/// Returns the position that the run has reached, in iterations. If an attempt is running, this is its position; otherwise
/// it is the position from which the next attempt will continue.
double reached(std::span<const AttemptRecord> attempts) {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    const bool keeps_all = !went_wrong(state_of(*attempt));
    if (moved(*attempt) && (keeps_all || is_observed(*attempt))) return end_of(*attempt);
    if (!is_observed(*attempt) && attempt->saved_iteration >= 0) return static_cast<double>(attempt->saved_iteration);
  }
  return 0;
}

double expected(std::span<const AttemptRecord> attempts) {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt)
    if (attempt->expected > 0) return attempt->expected;
  return 0;
}

bool in_same_job(const AttemptRecord& one, const AttemptRecord& other) {
  return one.owner.job_id == other.owner.job_id && one.owner.restart_count == other.owner.restart_count;
}

double mean(double sum, int count) { return count > 0 ? sum / count : 0; }

/// The times of a run's attempts so far, in seconds, divided by purpose.
struct Costs {
  double productive_s = 0, saves_s = 0, repeated_s = 0;  ///< sums over all attempts of the run
  double start_s = 0, end_s = 0, wait_s = 0;  ///< mean startup time, mean shutdown time, and mean wait between two jobs
  bool waits_known = false;
};

Costs costs_of(std::span<const AttemptRecord> attempts) {
  const auto accounts = accounts_of(attempts);
  const auto sum = sum_of(accounts);
  Costs costs{.productive_s = sum.productive_s, .saves_s = sum.checkpoint_s, .repeated_s = sum.lost_s};
  double starts_s = 0, ends_s = 0, waits_s = 0;
  int starts = 0, ends = 0, waits = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    const bool begins_job = i == 0 || !in_same_job(attempts[i - 1], attempts[i]);
    const double back_off_s = accounts[i].waiting_s <= max_back_off_s ? accounts[i].waiting_s : 0;
    if (!begins_job) costs.repeated_s += back_off_s + accounts[i].startup_s;
    if (moved(attempts[i])) starts_s += accounts[i].startup_s, ++starts;
    if (!attempts[i].end.empty()) ends_s += accounts[i].shutdown_s, ++ends;
    if (begins_job && i > 0 && state_of(attempts[i - 1]) != RunState::finished) waits_s += accounts[i].waiting_s, ++waits;
  }
  costs.start_s = mean(starts_s, starts);
  costs.end_s = mean(ends_s, ends) + stop_early_s;
  costs.wait_s = mean(waits_s, waits);
  costs.waits_known = waits > 0;
  return costs;
}

/// Returns the training time per iteration in seconds; nothing if it is unknown.
std::optional<double> iteration_s(std::span<const AttemptRecord> attempts, const Costs& costs, double reached) {
  const auto& last = attempts.back();
  const double in_last_s = last.timing.steps_s - last.unreported_s, iterations = end_of(last) - begin_of(last);
  if (moved(last) && iterations >= min_iterations && in_last_s >= min_training_s) return in_last_s / iterations;
  const auto first = std::ranges::find_if(attempts, moved);
  const double all_s = costs.productive_s - (moved(last) || last.end.empty() ? last.unreported_s : 0);
  if (first == attempts.end() || reached <= begin_of(*first) || all_s < min_training_s) return std::nullopt;
  return all_s / (reached - begin_of(*first));
}

/// Returns the time limit of the current or last Slurm job in seconds; 0 if it is unknown. It is the time from the
/// job's start to its scheduled end, rounded up to full minutes like the limits of Slurm. If Slurm did not report the
/// start, the function uses the start of the job's first attempt, which is slightly later.
double job_limit_s(std::span<const AttemptRecord> attempts) {
  const auto& last = attempts.back();
  if (last.job_end.empty()) return 0;
  auto start = last.job_start;
  for (const auto& attempt : attempts)
    if (start.empty() && in_same_job(attempt, last)) start = attempt.start;
  constexpr double minute_s = 60, blur_s = 5;
  return start.empty() ? 0
                       : std::max(0.0, std::ceil((seconds_between(start, last.job_end) - blur_s) / minute_s) * minute_s);
}

/// Adds further jobs to `forecast` if its work does not fit into the remaining `rest_of_job_s` seconds of the present
/// job. Returns false if the jobs' time limit is too short to make progress.
bool add_jobs(Forecast& forecast, const Costs& costs, double rest_of_job_s) {
  const double needed_s = forecast.left_s(), useful_s = forecast.job_limit_s - costs.start_s - costs.end_s;
  const double later_s = needed_s - std::max(0.0, rest_of_job_s - costs.end_s);
  if (forecast.runs && needed_s <= rest_of_job_s) return true;
  if (useful_s <= 0) return false;
  forecast.more_jobs = static_cast<int>(std::min(std::ceil(later_s / useful_s), 1e6));
  const double jobs = forecast.more_jobs;
  forecast.jobs_s = jobs * (costs.start_s + costs.end_s);
  forecast.waiting_s = costs.wait_s * (forecast.runs ? jobs : jobs - 1);
  forecast.waits_known = costs.waits_known || (!forecast.runs && forecast.more_jobs == 1);
  const double equal_s = reserve * (later_s / jobs + costs.start_s + costs.end_s);
  const double rounded_s = std::ceil(equal_s / rounding_s) * rounding_s;
  if (rounded_s < forecast.job_limit_s) forecast.advised_limit_s = rounded_s;
  return true;
}

/// Returns the jobs that the run still needs: "this and 2 more jobs" while a job of the run is running, else "3 jobs".
std::string jobs_text(const Forecast& forecast) {
  return forecast.runs ? "this and " + counted(forecast.more_jobs, "more job") : counted(forecast.more_jobs, "job");
}

}  // namespace

std::optional<Forecast> forecast_of(std::span<const AttemptRecord> attempts, const std::string& now) {
  if (attempts.empty() || state_of(attempts.back()) == RunState::finished) return std::nullopt;
  const auto& last = attempts.back();
  const double iterations_left = expected(attempts) - reached(attempts);
  if (iterations_left <= 0) return std::nullopt;
  const auto costs = costs_of(attempts);
  const auto each_s = iteration_s(attempts, costs, reached(attempts));
  if (!each_s || costs.productive_s < min_training_s) return std::nullopt;
  Forecast forecast{.runs = last.end.empty(), .job_limit_s = job_limit_s(attempts)};
  const double since_s = forecast.runs && !last.seen.empty() ? std::max(0.0, seconds_between(last.seen, now)) : 0;
  const double begun_s = forecast.runs && moved(last) ? last.unreported_s + since_s : 0;
  forecast.training_s = std::max(0.0, iterations_left * *each_s - begun_s);
  forecast.saves_s = forecast.training_s * costs.saves_s / costs.productive_s;
  forecast.repeated_s = forecast.training_s * costs.repeated_s / costs.productive_s;
  if (forecast.job_limit_s <= 0) return forecast;
  const double rest_s = forecast.runs ? std::max(0.0, seconds_between(now, last.job_end)) : 0;
  return add_jobs(forecast, costs, rest_s) ? std::optional(forecast) : std::nullopt;
}

std::string brief(const Forecast& forecast) {
  const auto left = clock_text(forecast.left_s()) + " left";
  return forecast.more_jobs == 0 ? left : fmt::format("{} in {}", left, jobs_text(forecast));
}

std::string advice_of(const Forecast& forecast) {
  if (forecast.more_jobs == 0) return {};
  auto text = fmt::format("this run needs {} of {}", jobs_text(forecast), slurm_time(forecast.job_limit_s));
  if (forecast.advised_limit_s > 0) text += fmt::format("; {} would do", slurm_time(forecast.advised_limit_s));
  return text;
}

std::string slurm_time(double seconds) {
  constexpr std::int64_t day_s = 86400;
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  const auto days = whole / day_s, rest = whole % day_s;
  const auto clock = fmt::format("{:02}:{:02}:{:02}", rest / 3600, rest / 60 % 60, rest % 60);
  return days > 0 ? fmt::format("{}-{}", days, clock) : clock;
}

}  // namespace trainrt::rundir
