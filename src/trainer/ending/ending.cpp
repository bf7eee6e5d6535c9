#include "trainer/ending/ending.hpp"

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "rundir/records/point_words.hpp"

namespace trainrt::trainer {

namespace {

using Kind = Ending::Kind;
using rundir::RunState;

bool is_finished(const Ending& ending) { return ending.kind == Kind::finished || ending.kind == Kind::finished_early; }

/// What an early end could not save is lost; what a function that returned has not saved it did not want.
bool is_lost(const Ending& ending) {
  return !ending.saved && ending.place.empty() && ending.kind != Kind::finished && ending.kind != Kind::not_begun;
}

std::string point_of(const Ending& ending) { return rundir::short_point(ending.step, ending.iteration); }

std::string why_of(const Ending& ending) {
  if (ending.kind == Kind::finished) return "finished";
  if (!ending.slow_node.empty()) return "stopped: " + ending.reason;
  return (is_finished(ending) ? "finished early: " : "stopped by ") + ending.reason;
}

std::string way_of(const Ending& ending) {
  if (ending.silent && ending.iteration > 0)
    return fmt::format("the program ended well, last seen at step {} by its output", ending.step);
  if (ending.silent) return "the program ended well, and does not report progress";
  return rundir::progress_in_words(ending.step, ending.iteration);
}

std::string finished_message(const Ending& ending, const std::string& run_dir) {
  return fmt::format("finished{}: {}. Results: trainrt result {}",
                     ending.kind == Kind::finished_early ? " early (" + ending.reason + ")" : "", way_of(ending),
                     shell_quoted(run_dir));
}

std::string lost_message(const Ending& ending, const std::string& run_dir) {
  return fmt::format(
      "{} at {}, but this could not be saved: starting again repeats what came after the last "
      "checkpoint (trainrt result {}; exit {})",
      why_of(ending), point_of(ending), shell_quoted(run_dir), static_cast<int>(ExitCode::failed));
}

std::string stopped_message(const Ending& ending) {
  const auto again = fmt::format("Run the same command again to continue (exit {})", static_cast<int>(ExitCode::stopped));
  if (ending.kind == Kind::not_begun)
    return fmt::format("{} before the training began; nothing has changed. {}", why_of(ending), again);
  if (ending.silent && ending.iteration > 0)
    return fmt::format("{}; the program's output showed step {} last, and it goes on from what it saved by itself. {}",
                       why_of(ending), ending.step, again);
  if (ending.silent)
    return fmt::format("{}; the program had reported no progress, and goes on from what it saved by itself. {}",
                       why_of(ending), again);
  if (!ending.saved)
    return fmt::format(
        "{} at {}. The train function saves by report() with a directory: it goes on from {}, and what came after is "
        "repeated. {}",
        why_of(ending), point_of(ending), ending.place, again);
  return fmt::format("{} at {}; everything up to there is saved. {}", why_of(ending), point_of(ending), again);
}

}  // namespace

Conclusion conclude(const Ending& ending, const std::string& run_dir) {
  const auto why = why_of(ending);
  if (is_lost(ending)) return {ExitCode::failed, RunState::stopped, why + ", not saved", lost_message(ending, run_dir)};
  if (is_finished(ending)) return {ExitCode::finished, RunState::finished, why, finished_message(ending, run_dir)};
  return {ExitCode::stopped, RunState::stopped, why, stopped_message(ending), ending.slow_node};
}

std::string finished_already_message(const std::string& name, const std::string& run_dir) {
  return fmt::format(
      "the run '{}' has finished already; nothing to do. Results: {}. More epochs in [loop] continue it; "
      "another run.name starts a new one",
      name, run_dir);
}

}  // namespace trainrt::trainer
