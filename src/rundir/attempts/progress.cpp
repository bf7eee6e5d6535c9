#include "rundir/attempts/progress.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/records/run_error.hpp"

namespace trainrt::rundir {

namespace {

bool has_code(const AttemptRecord& attempt, ExitCode code) { return attempt.exit_code == static_cast<int>(code); }

/// Returns whether an attempt is ignored when progress is judged: its progress is unknown, Slurm ended or stopped the
/// attempt, or the config was invalid.
bool is_ignored(const AttemptRecord& attempt) {
  return (attempt.silent && !attempt.position) || has_code(attempt, ExitCode::usage) ||
         attempt.why.starts_with(ended_by_slurm) || attempt.why.starts_with("stopped by SIGTERM");
}

/// Returns, for each attempt of a program that does not use trainrt's API, whether its output mentions a higher step,
/// iteration or epoch than the output of all earlier attempts. The value is false for other attempts.
std::vector<bool> advanced_by_output(std::span<const AttemptRecord> attempts) {
  std::vector<bool> further;
  double furthest = -1;
  for (const auto& attempt : attempts) {
    const double position = attempt.silent ? attempt.position.value_or(-1) : -1;
    further.push_back(position > furthest);
    furthest = std::max(furthest, position);
  }
  return further;
}

/// For an attempt that saved no checkpoint: returns whether `next`, the attempt after it, must have continued from a
/// copy of the State in memory. This is the case if `attempt` made steps (or reports), and `next` began at a later step
/// (or report) than `attempt`.
bool is_continued_from_copy(const AttemptRecord& attempt, const AttemptRecord& next) {
  const bool by_steps = attempt.last_step > attempt.first_step && next.first_step > attempt.first_step;
  const bool by_reports = attempt.iteration > attempt.first_iteration && next.first_iteration > attempt.first_iteration;
  return by_steps || by_reports;
}

}  // namespace

int attempts_without_progress(std::span<const AttemptRecord> attempts, const std::string& job_id) {
  const auto advanced = advanced_by_output(attempts);
  int count = 0;
  for (std::size_t i = attempts.size(); i-- > 0;) {
    const auto& attempt = attempts[i];
    const bool moved = advanced[i] || attempt.saved_step > attempt.first_step ||
                       attempt.saved_iteration > attempt.first_iteration ||
                       (i + 1 < attempts.size() && is_continued_from_copy(attempt, attempts[i + 1]));
    if (attempt.owner.job_id != job_id || has_code(attempt, ExitCode::finished) || moved) break;
    if (!is_ignored(attempt)) ++count;
  }
  return count;
}

bool last_attempt_was_silent(const std::string& run_dir) {
  const auto attempts = read_attempts(run_dir, 1);
  return !attempts.empty() && attempts.back().silent;
}

bool has_reporting_attempt(const std::string& run_dir) {
  const auto attempts = read_attempts(run_dir, 1);  // its record also covers the earlier attempts
  return !attempts.empty() && !attempts.back().silent;
}

void require_progress(const std::string& run_dir, int max_no_progress) {
  const auto job_id = this_owner().job_id;
  if (max_no_progress == 0 || job_id.empty()) return;
  const auto attempts = read_attempts(run_dir, max_recent_attempts);
  const int count = attempts_without_progress(attempts, job_id);
  if (count < max_no_progress) return;
  throw NoProgress(
      fmt::format("the last {} attempts of job {} on the run in {} got no further than {}. To see why, run: trainrt result "
                  "{}. Fix the problem and submit a new job",
                  count, job_id, run_dir,
                  attempts.back().silent ? "earlier attempts, by the program's output" : "the checkpoint they began with",
                  shell_quoted(run_dir)));
}

}  // namespace trainrt::rundir
