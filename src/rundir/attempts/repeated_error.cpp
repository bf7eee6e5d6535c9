#include "rundir/attempts/repeated_error.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::rundir {

namespace {

/// Returns whether two mistakes are equal. If the ranks make different calls, their texts are not compared: each rank
/// describes the calls from its own view, and the rank that reports first differs between attempts.
bool is_same(const Mistake& a, const Mistake& b) {
  return a.kind == b.kind && (a.kind == mistake_kind::calls_differ || a.error == b.error);
}

bool fails_equally(const AttemptRecord& before, const AttemptRecord& now) {
  constexpr int failed = static_cast<int>(ExitCode::failed);
  return !now.mistake.kind.empty() && is_same(now.mistake, before.mistake) && now.exit_code == failed &&
         before.exit_code == failed && now.last_step == before.last_step && now.iteration == before.iteration;
}

/// Returns how often the last of `attempts` failed in a row with the same mistake at the same point: "twice", "3 times".
std::string times(std::span<const AttemptRecord> attempts) {
  std::size_t count = 1;
  while (count < attempts.size() && fails_equally(attempts[attempts.size() - count - 1], attempts.back())) ++count;
  return count == 2 ? "twice" : fmt::format("{} times", count);
}

/// Returns the point of a failure with a blank before it: " at step 12", " after report 2"; "" before the first step
/// and report.
std::string place(const AttemptRecord& attempt) {
  if (attempt.last_step > 0) return fmt::format(" at step {}", attempt.last_step);
  return attempt.iteration > 0 ? fmt::format(" after report {}", attempt.iteration) : "";
}

}  // namespace

bool repeats_mistake(std::span<const AttemptRecord> attempts) {
  if (attempts.size() < 2) return false;
  const auto& before = attempts[attempts.size() - 2];
  const auto& now = attempts.back();
  return fails_equally(before, now) && now.saved_checkpoint == before.saved_checkpoint &&
         now.saved_step == before.saved_step;
}

std::string repetition_in_words(std::span<const AttemptRecord> attempts) {
  if (!repeats_mistake(attempts)) return {};
  const auto& last = attempts.back();
  return fmt::format("failed {} in the same way{}", times(attempts), place(last));
}

std::string repeated_mistake(const std::string& run_dir) noexcept try {
  constexpr std::size_t max_attempts = 100;
  return repetition_in_words(read_attempts(run_dir, max_attempts));
} catch (const std::exception&) {
  return {};
}

}  // namespace trainrt::rundir
