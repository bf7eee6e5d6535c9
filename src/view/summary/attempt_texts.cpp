#include "view/summary/attempt_texts.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/host.hpp"
#include "rundir/records/point_words.hpp"

namespace trainrt::view {

std::string steps_of(const rundir::AttemptRecord& attempt) {
  if (!attempt.shows_progress()) return attempt.position ? "none seen" : "not reported";
  if (attempt.last_step <= 0) return "-";
  const auto note = attempt.silent ? " (seen)" : attempt.from_copy ? " (from memory)" : "";
  return fmt::format("{} to {}{}", attempt.first_step, attempt.last_step, note);
}

std::string iterations_of(const rundir::AttemptRecord& attempt) {
  if (!attempt.shows_progress() || attempt.iteration <= 0) return "-";
  return fmt::format("{} to {}", attempt.first_iteration, attempt.iteration);
}

std::string saved_point_of(const rundir::AttemptRecord& attempt) {
  return attempt.saved_step < 0 ? "-" : rundir::short_point(attempt.saved_step, attempt.saved_iteration);
}

std::string phase_of(const rundir::RankStatus& rank, const rundir::AttemptRecord& attempt) {
  if (rank.phase != "starting" || attempt.timing.steps_s <= 0) return rank.phase;
  return attempt.silent ? "running" : "training";
}

const rundir::AttemptRecord* announcing_attempt(rundir::RunState state, std::span<const rundir::AttemptRecord> attempts,
                                                const std::string& now) {
  if (state == rundir::RunState::finished) return nullptr;
  // Until the announced attempt starts, rundir::is_over() is true for the state of the run. If the ranks restart in the
  // same processes, the state is "starting" instead.
  const bool has_ended = rundir::is_over(state) || (!attempts.empty() && !attempts.back().end.empty());
  const auto ended = attempts.size() - std::min<std::size_t>(attempts.size(), has_ended ? 1 : 2);
  if (ended == attempts.size() || !attempts[ended].next_start) return nullptr;
  const auto& attempt = attempts[ended];
  const bool waits = has_ended || seconds_between(attempt.next_start->time, now) < 0;
  return waits ? &attempt : nullptr;
}

std::string next_start_text(rundir::RunState state, std::span<const rundir::AttemptRecord> attempts,
                            const std::string& now) {
  const auto* attempt = announcing_attempt(state, attempts, now);
  if (attempt == nullptr) return {};
  return rundir::in_words(*attempt->next_start, attempt->number + 1, attempt->owner.job_id, now);
}

}  // namespace trainrt::view
