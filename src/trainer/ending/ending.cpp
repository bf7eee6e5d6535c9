#include "trainer/ending/ending.hpp"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "checkpoint/format/listing.hpp"
#include "config/program_settings.hpp"
#include "config/run_name.hpp"
#include "core/text/text.hpp"
#include "rundir/records/point_words.hpp"

namespace trainrt::trainer {

namespace {

using Kind = Ending::Kind;
using rundir::RunState;

bool is_finished(const Ending& ending) { return ending.kind == Kind::finished || ending.kind == Kind::finished_early; }

/// Returns whether work is lost: the attempt was stopped or ended early, and the state could not be saved. A train function
/// that returned without saving loses no work.
bool is_lost(const Ending& ending) {
  return !ending.saved && ending.resumes_from.empty() && ending.kind != Kind::finished && ending.kind != Kind::not_begun;
}

std::string point_of(const Ending& ending) { return rundir::short_point(ending.step, ending.iteration); }

std::string reason_of(const Ending& ending) {
  if (ending.kind == Kind::finished) return "finished";
  if (!ending.slow_node.empty()) return "stopped: " + ending.reason;
  return (is_finished(ending) ? "finished early: " : "stopped by ") + ending.reason;
}

std::string progress_of(const Ending& ending) {
  if (ending.silent && ending.iteration > 0)
    return fmt::format("the program exited with 0; the last step in its output was {}", ending.step);
  if (ending.silent) return "the program exited with 0; it does not report progress";
  return rundir::progress_in_words(ending.step, ending.iteration);
}

std::string finished_message(const Ending& ending, const std::string& run_dir) {
  return fmt::format("finished{}: {}. Results: trainrt result {}",
                     ending.kind == Kind::finished_early ? " early (" + ending.reason + ")" : "", progress_of(ending),
                     shell_quoted(run_dir));
}

std::string lost_message(const Ending& ending, const config::RunSpec& spec) {
  const auto next = ending.supervised ? "The next start repeats the work since the last checkpoint"
                                      : fmt::format("Run the same command {} to repeat the work since the last checkpoint",
                                                    config::again(spec.run));
  return fmt::format("{} at {}, but the state could not be saved. {}. Details: trainrt result {} (exit {})",
                     reason_of(ending), point_of(ending), next, shell_quoted(spec.run_dir),
                     static_cast<int>(ExitCode::failed));
}

/// Returns the part of stopped_message() that describes the saved state and from where the next start continues.
std::string stopped_state(const Ending& ending) {
  const auto reason = reason_of(ending);
  if (ending.kind == Kind::not_begun) return reason + " before the training began; nothing has changed";
  if (ending.silent && ending.iteration > 0)
    return fmt::format(
        "{}; the last step in the program's output was {}. "
        "The program starts again, and must itself continue from files that it saved",
        reason, ending.step);
  if (ending.silent && ending.connected)
    return fmt::format("{} before the program's first step or report; the next start begins {}", reason,
                       ending.has_checkpoint ? "where this one began, at the last checkpoint" : "at step 0");
  if (ending.silent)
    return reason +
           "; the program has not called trainrt, so that trainrt saved nothing. The program starts again from files that "
           "it saved itself, or from the beginning";
  if (!ending.saved)
    return fmt::format(
        "{} at {}. The train function saves only the directories that it reports: "
        "the run resumes from {}, and later work is repeated",
        reason, point_of(ending), ending.resumes_from);
  if (ending.step == 0 && ending.iteration == 0)
    return reason + " before the first step or report; the next start begins at step 0";
  return fmt::format("{} at {}; everything up to there is saved", reason, point_of(ending));
}

std::string stopped_message(const Ending& ending, const config::RunSpec& spec) {
  const int code = static_cast<int>(ExitCode::stopped);
  if (ending.supervised) return fmt::format("{} (exit {})", stopped_state(ending), code);
  return fmt::format("{}. Run the same command {} to continue (exit {})", stopped_state(ending), config::again(spec.run),
                     code);
}

}  // namespace

Conclusion conclude(const Ending& ending, const config::RunSpec& spec) {
  const auto why = reason_of(ending);
  if (is_lost(ending)) return {ExitCode::failed, RunState::stopped, why + ", not saved", lost_message(ending, spec)};
  if (is_finished(ending)) return {ExitCode::finished, RunState::finished, why, finished_message(ending, spec.run_dir)};
  return {ExitCode::stopped, RunState::stopped, why, stopped_message(ending, spec), ending.slow_node};
}

std::string finished_already_message(const config::RunSpec& spec) {
  const bool has_epochs =
      std::ranges::any_of(spec.loop.keys(), std::not_fn(config::is_record_of_python)) || !spec.loop_defaults.keys().empty();
  return fmt::format("the run '{}' has finished already. Results: {}. {}To start a new run, set another run.name",
                     spec.run.name, spec.run_dir, has_epochs ? "To continue the run, set more epochs in [loop]. " : "");
}

std::string next_start(const config::RunSpec& spec, bool is_silent) {
  if (is_silent) return "the program then starts again, and must itself continue from files that it saved";
  if (checkpoint::highest_number(spec.run_dir) >= 0) return "the run then resumes from its last checkpoint";
  return spec.run.resume_from.empty() ? "the run then starts from the beginning, since it has no checkpoint"
                                      : "the run then starts again from run.resume_from_checkpoint";
}

}  // namespace trainrt::trainer
