#include "rundir/attempts/repeated_error.hpp"

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/point_words.hpp"

namespace trainrt::rundir {

namespace {

/// Returns whether two mistakes are equal. If the ranks make different calls, their texts are not compared: each rank
/// describes the calls from its own view, and the rank that reports first differs between attempts.
bool is_same(const Mistake& a, const Mistake& b) {
  return a.kind == b.kind && (a.kind == mistake_kind::calls_differ || a.error == b.error);
}

}  // namespace

bool repeats_mistake(std::span<const AttemptRecord> attempts) {
  if (attempts.size() < 2) return false;
  const auto& before = attempts[attempts.size() - 2];
  const auto& now = attempts.back();
  constexpr int failed = static_cast<int>(ExitCode::failed);
  return !now.mistake.kind.empty() && is_same(now.mistake, before.mistake) && now.exit_code == failed &&
         before.exit_code == failed && now.last_step == before.last_step && now.iteration == before.iteration &&
         now.saved_checkpoint == before.saved_checkpoint && now.saved_step == before.saved_step;
}

std::string repeated_mistake(const std::string& run_dir) noexcept try {
  const auto attempts = read_attempts(run_dir, 2);
  if (!repeats_mistake(attempts)) return {};
  const auto& last = attempts.back();
  return fmt::format("at {}: {}", short_point(last.last_step, last.iteration), last.mistake.error);
} catch (const std::exception&) {
  return {};
}

}  // namespace trainrt::rundir
