#include "rundir/progress.hpp"

#include <ranges>

#include <fmt/format.h>

#include "core/text.hpp"
#include "rundir/attempt_files.hpp"
#include "rundir/run_error.hpp"

namespace trainrt::rundir {

namespace {

bool has_code(const AttemptRecord& attempt, ExitCode code) { return attempt.exit_code == static_cast<int>(code); }

bool says_nothing(const AttemptRecord& attempt) {
  return attempt.silent || has_code(attempt, ExitCode::usage) || attempt.why.starts_with(ended_by_slurm) ||
         attempt.why.starts_with("stopped by SIGTERM");
}

}  // namespace

int attempts_without_progress(std::span<const AttemptRecord> attempts, const std::string& job_id) {
  int count = 0;
  for (const auto& attempt : std::views::reverse(attempts)) {
    const bool moved = attempt.saved_step > attempt.first_step || attempt.saved_iteration > attempt.first_iteration;
    if (attempt.owner.job_id != job_id || has_code(attempt, ExitCode::finished) || moved) break;
    if (!says_nothing(attempt)) ++count;
  }
  return count;
}

bool last_attempt_was_silent(const std::string& run_dir) {
  const auto attempts = read_attempts(run_dir, 1);
  return !attempts.empty() && attempts.back().silent;
}

void require_progress(const std::string& run_dir, int max_no_progress) {
  const auto job_id = this_owner().job_id;
  if (max_no_progress == 0 || job_id.empty()) return;
  const int count = attempts_without_progress(read_attempts(run_dir, attempts_that_matter), job_id);
  if (count < max_no_progress) return;
  throw NoProgress(
      fmt::format("the last {} attempts of job {} at the run in {} got no further than the checkpoint they began with: "
                  "trainrt result {} shows why. Mend that and submit a new job",
                  count, job_id, run_dir, shell_quoted(run_dir)),
      run_dir, count);
}

}  // namespace trainrt::rundir
