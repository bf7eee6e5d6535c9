#include "trainer/ending/ending.hpp"

#include <fmt/format.h>

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
  return fmt::format(
      "{} at {}, but the state could not be saved. Run the same command {} to repeat the work since the last checkpoint. "
      "Details: trainrt result {} (exit {})",
      reason_of(ending), point_of(ending), config::again(spec.run), shell_quoted(spec.run_dir),
      static_cast<int>(ExitCode::failed));
}

std::string stopped_message(const Ending& ending, const config::RunSpec& spec) {
  const auto again = fmt::format("Run the same command {} to continue (exit {})", config::again(spec.run),
                                 static_cast<int>(ExitCode::stopped));
  if (ending.kind == Kind::not_begun)
    return fmt::format("{} before the training began; nothing has changed. {}", reason_of(ending), again);
  if (ending.silent && ending.iteration > 0)
    return fmt::format(
        "{}; the last step in the program's output was {}. The program starts again, and must itself continue from files "
        "that it saved. {}",
        reason_of(ending), ending.step, again);
  if (ending.silent && ending.connected)
    return fmt::format("{} before the program's first step or report; the next start begins {}. {}", reason_of(ending),
                       ending.has_checkpoint ? "where this one began, at the last checkpoint" : "at step 0", again);
  if (ending.silent)
    return fmt::format(
        "{}; the program does not report progress. It starts again, and must itself continue from files that it saved. {}",
        reason_of(ending), again);
  if (!ending.saved)
    return fmt::format(
        "{} at {}. The train function saves only the directories that it reports: the run resumes from {}, and later work "
        "is repeated. {}",
        reason_of(ending), point_of(ending), ending.resumes_from, again);
  return fmt::format("{} at {}; everything up to there is saved. {}", reason_of(ending), point_of(ending), again);
}

}  // namespace

Conclusion conclude(const Ending& ending, const config::RunSpec& spec) {
  const auto why = reason_of(ending);
  if (is_lost(ending)) return {ExitCode::failed, RunState::stopped, why + ", not saved", lost_message(ending, spec)};
  if (is_finished(ending)) return {ExitCode::finished, RunState::finished, why, finished_message(ending, spec.run_dir)};
  return {ExitCode::stopped, RunState::stopped, why, stopped_message(ending, spec), ending.slow_node};
}

std::string finished_already_message(const config::RunSpec& spec) {
  const bool has_epochs = spec.train.program.empty() || !spec.loop.keys().empty();
  return fmt::format("the run '{}' has finished already. Results: {}. {}To start a new run, set another run.name",
                     spec.run.name, spec.run_dir, has_epochs ? "To continue the run, set more epochs in [loop]. " : "");
}

}  // namespace trainrt::trainer
