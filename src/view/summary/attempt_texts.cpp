#include "view/summary/attempt_texts.hpp"

#include <fmt/format.h>

#include "rundir/records/point_words.hpp"

namespace trainrt::view {

std::string steps_of(const rundir::AttemptRecord& attempt) {
  if (!attempt.shows_progress()) return attempt.position ? "none seen" : "not reported";
  if (attempt.last_step <= 0) return "-";
  return fmt::format("{} to {}{}", attempt.first_step, attempt.last_step, attempt.silent ? " (seen)" : "");
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

}  // namespace trainrt::view
