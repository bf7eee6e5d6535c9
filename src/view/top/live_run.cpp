#include "view/top/live_run.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/host.hpp"
#include "io/files/file.hpp"
#include "metrics/record_json.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/completion.hpp"
#include "rundir/attempts/start_claim.hpp"
#include "view/summary/attempt_texts.hpp"

namespace trainrt::view {

namespace {

constexpr std::uint64_t max_report_bytes = 256 << 10, max_step_bytes = 1 << 20;
constexpr std::size_t max_reports = 2000, max_live_attempts = 50, max_slow_events = 20;
constexpr double heartbeat_s = 30, check_interval_s = 30, rate_window_s = 60;

}  // namespace

std::string slow_rank_text(const StepWindow::Slow& slow) {
  const auto share = std::isfinite(slow.ratio) ? fmt::format("{:.0f} % ", 100 * (slow.ratio - 1)) : std::string();
  return fmt::format("{}slower than the median in {}{}", share, slow.work, slow.why.empty() ? "" : ": " + slow.why);
}

const rundir::AttemptRecord* LiveStatus::restarting() const {
  const auto* attempt = announcing_attempt(state, attempts, now);
  return attempt != nullptr && rundir::is_expected(*attempt->next_start, now) ? attempt : nullptr;
}

RecentProgress ProgressWindow::take(const rundir::AttemptRecord& attempt) {
  if (attempt.number != attempt_) marks_.assign(1, {});
  attempt_ = attempt.number;
  const RecentProgress now{.seconds = attempt.timing.steps_s + attempt.timing.checkpoint_s,
                           .steps = static_cast<double>(attempt.last_step - attempt.first_step),
                           .iterations = static_cast<double>(attempt.iteration - attempt.first_iteration)};
  if (now.seconds > marks_.back().seconds) marks_.push_back(now);
  while (marks_.size() > 2 && now.seconds - marks_[1].seconds >= rate_window_s) marks_.pop_front();
  const auto &first = marks_.front(), &last = marks_.back();
  return {last.seconds - first.seconds, last.steps - first.steps, last.iterations - first.iterations};
}

LiveRun::LiveRun(std::string run_dir)
    : run_dir_(std::move(run_dir)),
      results_(run_dir_ + "/" + metrics::result_log_name, max_report_bytes),
      job_is_alive_(rundir::reusing_answers(rundir::slurm_job_is_alive, check_interval_s)) {}

LiveStatus LiveRun::read() {
  const GuardedTree guarded(run_dir_);
  LiveStatus now;
  const auto record = rundir::read_run_record(run_dir_);
  if (!record) throw UsageError(run_dir_ + " is not a run directory: it has no run.json");
  now.run_dir = run_dir_;
  now.now = utc_now();
  now.record = *record;
  now.attempts = attempts();
  set_state(now);
  switch_to(now.attempts.empty() ? 0 : now.attempts.back().number);
  read_reports();
  read_steps();
  now.reports = reports_;
  now.steps = steps_;
  read_ranks(now);
  now.forecast = rundir::forecast_of(now.attempts, now.now);
  if (!now.is_over() && !now.attempts.empty()) now.recent = recent_.take(now.attempts.back());
  now.usage = usage_of(now);
  now.events = events_of(now);
  return now;
}

/// Reads the records of the newest attempts. The record of an ended attempt does not change after a later attempt has
/// begun, and is then read only once.
std::vector<rundir::AttemptRecord> LiveRun::attempts() {
  auto numbers = rundir::numbers_of_attempts(run_dir_);
  if (numbers.size() > max_live_attempts) numbers.erase(numbers.begin(), numbers.end() - max_live_attempts);
  std::vector<rundir::AttemptRecord> records;
  for (const int number : numbers) {
    if (const auto known = ended_.find(number); known != ended_.end()) {
      records.push_back(known->second);
      continue;
    }
    auto record = rundir::read_record(run_dir_, number);
    if (!record) continue;
    rundir::merge_heartbeat(*record, run_dir_);
    if (!record->end.empty() && number != numbers.back()) ended_[number] = *record;
    records.push_back(std::move(*record));
  }
  return records;
}

/// Returns whether the process that owns the newest attempt is alive. A recent heartbeat is sufficient; other checks
/// may need an RPC to Slurm.
bool LiveRun::is_alive(const rundir::AttemptRecord& newest, const std::string& now) {
  const auto& heartbeat = newest.seen.empty() ? newest.start : newest.seen;
  const bool is_local = newest.owner.host == host_name();  // in this case, the check reads only /proc
  if (!is_local && !heartbeat.empty() && std::abs(seconds_between(heartbeat, now)) < heartbeat_s) return true;
  if (is_local || monotonic_seconds() - checked_at_s_ > check_interval_s) {
    was_alive_ = !rundir::was_killed(run_dir_, newest);
    checked_at_s_ = monotonic_seconds();
  }
  return was_alive_;
}

void LiveRun::set_state(LiveStatus& now) {
  auto* const newest = now.attempts.empty() ? nullptr : &now.attempts.back();
  const bool has_open_attempt = newest != nullptr && newest->end.empty();
  const auto missing = rundir::missing_end(run_dir_, now.record);
  now.state = rundir::state_of({.recorded = now.record.state,
                                .newest = newest,
                                .newest_is_alive = has_open_attempt && is_alive(*newest, now.now),
                                .lacks_end = !missing.empty(),
                                .is_being_started = rundir::is_being_started(run_dir_, job_is_alive_)});
  if (newest == nullptr) return;
  if (has_open_attempt && now.state != rundir::RunState::running) {
    newest->end = newest->seen.empty() ? newest->start : newest->seen;
    newest->why = rundir::why_without_end(newest->owner, {});
  }
  now.why = missing.empty() ? newest->why : missing;
}

void LiveRun::switch_to(int attempt) {
  if (attempt == attempt_) return;
  attempt_ = attempt;
  step_lines_.emplace(run_dir_ + "/" + rundir::step_times_name(attempt), max_step_bytes);
  steps_.reset();
  ranks_.clear();
  used_before_.clear();
  rates_.clear();
  was_alive_ = true;
  checked_at_s_ = -1e9;
}

void LiveRun::read_reports() {
  const auto news = results_.read();
  if (news.is_new_file) reports_.clear();
  for (const auto& line : news.lines)
    if (auto record = metrics::from_json(line)) reports_.push_back(std::move(*record));
  while (reports_.size() > max_reports) reports_.pop_front();
}

void LiveRun::read_steps() {
  if (!step_lines_) return;
  for (const auto& line : step_lines_->read().lines) {
    auto window = step_window_from(line, attempt_);
    if (!window) continue;
    const bool is_known = window->slow && steps_ && steps_->slow && steps_->slow->rank == window->slow->rank;
    if (window->slow && !is_known)
      slow_.push_back(
          {window->time, fmt::format("rank {} is {}", window->slow->rank, slow_rank_text(*window->slow)), true});
    if (slow_.size() > max_slow_events) slow_.pop_front();
    steps_ = std::move(window);
  }
}

/// Reads the records of the ranks. A record that is being written cannot be parsed; in this case, the previous record
/// is used.
void LiveRun::read_ranks(LiveStatus& now) {
  if (attempt_ == 0) return;
  auto ranks = rundir::read_rank_statuses(run_dir_, attempt_);
  for (auto& rank : ranks)
    if (rank && !is_utc(rank->time)) rank.reset();
  for (std::size_t rank = 0; rank < std::min(ranks.size(), ranks_.size()); ++rank)
    if (!ranks[rank]) ranks[rank] = std::move(ranks_[rank]);
  ranks_ = std::move(ranks);
  now.ranks = ranks_;
  if (!now.is_over()) now.late = late_ranks(now.ranks, now.now);
}

}  // namespace trainrt::view
