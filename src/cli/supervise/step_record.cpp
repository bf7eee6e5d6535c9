#include "cli/supervise/step_record.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "rundir/attempts/attempt_files.hpp"

namespace trainrt::cli {

namespace {

/// Returns Slurm's reason for ending the job in lower case: "preemption", "time limit"; "" if the job continues.
std::string cause_of(const batch::StepLines& lines, batch::JobEnding ending) {
  auto cause = lines.cancel_reason();
  std::ranges::transform(cause, cause.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (!cause.empty()) return cause;
  switch (ending) {
    case batch::JobEnding::requeued:
      return "requeued";
    case batch::JobEnding::time_limit:
      return "time limit";
    case batch::JobEnding::cancelled:
      return "cancelled";
    default:
      return {};
  }
}

/// Returns the node that made a job step fail. Returns "" if the step did not fail, or if Slurm ended the job for the
/// reason `cause` and no node was lost.
std::string blamed_node(const batch::StepEnd& end, const std::string& cause, bool ranks_ended_it) {
  const bool failed = end.exit_code != 0 && end.exit_code != static_cast<int>(ExitCode::stopped);
  const bool lost_a_node = !end.lines.failed_nodes().empty();
  return failed && (cause.empty() || lost_a_node) ? batch::node_to_blame(end.lines, ranks_ended_it) : "";
}

/// Returns the first line of a text, shortened for use in a sentence.
std::string brief(const std::string& text) {
  constexpr std::size_t max_bytes = 300;
  const auto line = first_line(text);
  return line.size() <= max_bytes ? line : line.substr(0, max_bytes) + "...";
}

}  // namespace

bool is_final(int exit_code) {
  return exit_code == static_cast<int>(ExitCode::finished) || exit_code == static_cast<int>(ExitCode::usage) ||
         exit_code == static_cast<int>(ExitCode::no_progress);
}

std::string record_step_end(const std::string& run_dir, const std::optional<rundir::AttemptRecord>& attempt,
                            const batch::StepEnd& end, batch::JobEnding ending) {
  const auto cause = cause_of(end.lines, ending);
  const auto why =
      cause.empty() ? batch::how_it_ended(end.lines, end.exit_code) : fmt::format("{}: {}", rundir::ended_by_slurm, cause);
  // Ranks that exit with 64 (usage) record the end of their attempt before. An attempt without a recorded end is
  // therefore not theirs: another start of this job is still running it, and the ranks of this step exited because the
  // run was in use.
  const bool is_of_other_start = attempt && attempt->end.empty() && end.exit_code == static_cast<int>(ExitCode::usage);
  if (!attempt || is_of_other_start) return why + " before an attempt had begun";
  const bool ranks_ended_it = !attempt->end.empty();
  const auto node = blamed_node(end, cause, ranks_ended_it);
  try {
    if (!ranks_ended_it)
      rundir::close_attempt(run_dir, attempt->number, why, end.exit_code, node);
    else if (!cause.empty() && !is_final(end.exit_code))
      rundir::append_cause(run_dir, attempt->number, cause);
    if (ranks_ended_it && (!node.empty() || end.lines.out_of_memory()))
      rundir::set_blamed_node(run_dir, attempt->number, node);
  } catch (const std::exception& error) {
    log::warning(fmt::format("cannot record how attempt {} ended: {}", attempt->number, error.what()));
  }
  if (!ranks_ended_it) return fmt::format("attempt {}: {}", attempt->number, why);
  return fmt::format("attempt {}: {}{}", attempt->number, brief(attempt->why), cause.empty() ? "" : " (" + cause + ")");
}

void record_end_by_requeue(const std::string& run_dir, const batch::SlurmJob& job) {
  for (const auto& attempt : rundir::read_attempts(run_dir, 1))
    if (attempt.end.empty() && attempt.owner.job_id == job.id() && attempt.owner.restart_count < job.restart_count())
      rundir::close_attempt(run_dir, attempt.number,
                            fmt::format("{}: killed with its job, which was requeued", rundir::ended_by_slurm),
                            128 + SIGKILL);
}

}  // namespace trainrt::cli
