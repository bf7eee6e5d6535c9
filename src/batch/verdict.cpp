#include "batch/verdict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainrt::batch {

namespace {

using Action = Verdict::Action;
using Limit = Verdict::Limit;

constexpr double longest_wait_s = 60;
constexpr int killed_by_term = 128 + 15;  // as Slurm counts it; never 75, which a batch script answers with a requeue

int code_of(ExitCode code) { return static_cast<int>(code); }

/// What a further attempt does.
std::string continuation(const Situation& situation) {
  return situation.silent ? "its program goes on from what it saved by itself" : "it continues from its last checkpoint";
}

std::string mend_and_submit(const Situation& situation) {
  return "Mend what the errors above say and submit the job again: " + continuation(situation);
}

Verdict give_up(ExitCode code, std::string why, std::string advice, Limit limit = Limit::none) {
  return {.action = Action::give_up,
          .exit_code = code_of(code),
          .why = std::move(why),
          .advice = std::move(advice),
          .limit = limit};
}

Verdict leave(std::string why) {
  return {.action = Action::leave_to_slurm, .exit_code = killed_by_term, .why = std::move(why)};
}

std::string times(int count) { return fmt::format("{} time{}", count, count == 1 ? "" : "s"); }

std::string are(const std::vector<std::string>& names) { return names.size() == 1 ? "is" : "are"; }

/// What of the allocation can still be used.
struct Usable {
  std::vector<std::string> nodes;
  std::vector<std::string> lost;
  std::vector<std::string> excluded;  ///< healthy ones that the run does without
  int tasks = 0;                      ///< that `nodes` take, no more than are wanted
  int wanted = 0;                     ///< of the whole step
};

enum class Excluded { left_out, used };

Usable usable_of(const Situation& situation, const Limits& limits, Excluded excluded = Excluded::left_out) {
  Usable usable;
  int usable_tasks = 0;
  int all_tasks = 0;
  for (const auto& node : situation.nodes) {
    all_tasks += node.tasks;
    const bool is_left_out = node.excluded && excluded == Excluded::left_out;
    if (node.healthy && !is_left_out) usable_tasks += node.tasks;
    (!node.healthy ? usable.lost : is_left_out ? usable.excluded : usable.nodes).push_back(node.name);
  }
  usable.wanted = limits.workers > 0 ? limits.workers : all_tasks;
  usable.tasks = std::min(usable.wanted, usable_tasks);
  return usable;
}

bool suffices(const Usable& usable, const Limits& limits) {
  const bool whole = usable.tasks >= usable.wanted;
  return !usable.nodes.empty() && (whole || (limits.min_workers > 0 && usable.tasks >= limits.min_workers));
}

/// The same if nodes are left out that could be used: more than half of the allocation never is.
bool suffices_without_excluded(const Usable& usable, const Limits& limits) {
  return suffices(usable, limits) && usable.excluded.size() <= usable.nodes.size();
}

Verdict go_on_with(const Usable& usable, const std::string& reason) {
  return {.action = Action::restart,
          .wait_s = 1,
          .nodes = usable.nodes,
          .tasks = usable.tasks,
          .why = fmt::format("{}: going on with {} of {} workers, on {}", reason, usable.tasks, usable.wanted,
                             fmt::join(usable.nodes, ","))};
}

/// What stands against any further attempt; nullopt if nothing does.
std::optional<Verdict> refused(const Situation& situation, const Limits& limits) {
  if (limits.max_no_progress > 0 && situation.no_progress >= limits.max_no_progress)
    return give_up(
        ExitCode::no_progress,
        fmt::format("{}; {} attempts in a row got no further than {}", situation.how, situation.no_progress,
                    situation.silent ? "earlier ones, by the program's output" : "the checkpoint they began with"),
        mend_and_submit(situation), Limit::max_no_progress);
  return std::nullopt;
}

Verdict requeue(const Situation& situation, const Limits& limits, const std::string& reason, Limit limit = Limit::none) {
  if (auto verdict = refused(situation, limits)) return *verdict;
  if (situation.requeues >= limits.max_requeues)
    return give_up(ExitCode::failed,
                   fmt::format("{}; the job was requeued {} already", situation.how, times(situation.requeues)),
                   "Submit it again: " + continuation(situation), Limit::max_requeues);
  return {.action = Action::requeue,
          .exit_code = code_of(ExitCode::stopped),
          .why = fmt::format("{}: requeueing; {}", reason, continuation(situation)),
          .limit = limit};
}

/// A node is gone: on with those that are left if they suffice, else in another allocation. Before that, nodes that are
/// excluded serve.
Verdict after_loss(const Situation& situation, const Limits& limits) {
  auto usable = usable_of(situation, limits);
  const auto lost =
      fmt::format("{}; {} of the allocation {} lost", situation.how, fmt::join(usable.lost, ","), are(usable.lost));
  if (!suffices_without_excluded(usable, limits)) usable = usable_of(situation, limits, Excluded::used);
  if (suffices(usable, limits)) return go_on_with(usable, lost);
  if (limits.min_workers == 0) return requeue(situation, limits, lost, Limit::no_min_workers);
  return requeue(situation, limits,
                 fmt::format("{} ({} workers are left, at least {} are needed)", lost, usable.tasks, limits.min_workers),
                 Limit::min_workers);
}

/// On the other nodes of the allocation if they suffice, else in another one without those that are excluded; nullopt if
/// none is, or if neither can be.
std::optional<Verdict> without_excluded(const Situation& situation, const Limits& limits) {
  const auto usable = usable_of(situation, limits);
  if (usable.excluded.empty()) return std::nullopt;
  const auto reason =
      fmt::format("{}; {} {} left out", situation.how, fmt::join(usable.excluded, ","), are(usable.excluded));
  if (suffices_without_excluded(usable, limits)) return go_on_with(usable, reason);
  if (!situation.no_other_nodes.empty() || situation.requeues >= limits.max_requeues) return std::nullopt;
  return requeue(situation, limits, reason);
}

/// Behind a decision to use all nodes: that those which are excluded are among them, and why.
std::string note_of_used(const Situation& situation, const Limits& limits) {
  const auto excluded = usable_of(situation, limits).excluded;
  if (excluded.empty()) return {};
  return fmt::format("; {}, to be left out, {} used all the same: {}", fmt::join(excluded, ","), are(excluded),
                     why_not_without_excluded(situation, limits));
}

Verdict after_failure(const Situation& situation, const Limits& limits) {
  if (situation.failures > limits.max_failures)
    return give_up(ExitCode::failed,
                   fmt::format("{}; it was started again {} in this allocation", situation.how, times(limits.max_failures)),
                   mend_and_submit(situation), Limit::max_failures);
  if (auto verdict = refused(situation, limits)) return *verdict;
  if (!usable_of(situation, limits).lost.empty()) return after_loss(situation, limits);
  if (auto verdict = without_excluded(situation, limits)) return *verdict;
  const double wait_s = std::min(longest_wait_s, std::exp2(std::clamp(situation.failures, 1, 10) - 1));
  return {.action = Action::restart,
          .wait_s = wait_s,
          .why = fmt::format("{}: starting the step again in {:.0f} s, restart {} of {}{}", situation.how, wait_s,
                             situation.failures, limits.max_failures, note_of_used(situation, limits)),
          .limit = Limit::max_failures};
}

/// Everything is saved. The attempt has stopped only since its node can be left out; if that has changed, it is used.
Verdict after_slow_node(const Situation& situation, const Limits& limits) {
  if (auto verdict = refused(situation, limits)) return *verdict;
  if (auto verdict = without_excluded(situation, limits)) return *verdict;
  return {.action = Action::restart,
          .wait_s = 1,
          .why = fmt::format("{}: starting the step again{}", situation.how, note_of_used(situation, limits))};
}

/// The verdict if the job itself ends, or is asked to stop; nullopt if it goes on.
std::optional<Verdict> by_ending(const Situation& situation, const Limits& limits) {
  switch (situation.ending) {
    case Ending::none:
      return std::nullopt;
    case Ending::returns:
      return leave(situation.how + "; Slurm requeues the job by itself, and " + continuation(situation));
    case Ending::for_good:
      return leave(situation.how +
                   "; the job is cancelled and does not return. Submit it again: " + continuation(situation));
    case Ending::stop_asked:
    case Ending::time_is_over:
      return requeue(situation, limits, situation.how);
  }
  return std::nullopt;
}

/// The run has finished; its job may be called something else.
Verdict done(Ending ending) {
  std::string why = "done; nothing is left to do";
  if (ending == Ending::time_is_over)
    why += ". Slurm will call the job TIMEOUT, because its time ended as the run did: the run has finished all the same";
  if (ending == Ending::for_good)
    why += ". Slurm will call the job CANCELLED, because that came as the run ended: the run has finished all the same";
  if (ending == Ending::returns) why += ". Slurm requeues the job all the same: it will find the run finished, and end";
  return {.action = Action::done, .why = std::move(why)};
}

}  // namespace

Verdict decide(const Situation& situation, const Limits& limits) {
  switch (situation.exit_code) {
    case 0:
      return done(situation.ending);
    case static_cast<int>(ExitCode::usage):
      return give_up(ExitCode::usage, "the step cannot run as it is",
                     "Mend what the error above says, and submit the job again");
    case static_cast<int>(ExitCode::no_progress):
      return give_up(ExitCode::no_progress, "restarts do not move the run forward",
                     "Mend what the errors above say, and submit the job again");
    default:
      break;
  }
  if (auto verdict = by_ending(situation, limits)) return *verdict;
  if (situation.shrunk) return requeue(situation, limits, situation.how + "; Slurm has taken a node out of the allocation");
  if (situation.exit_code == code_of(ExitCode::stopped) && situation.slow) return after_slow_node(situation, limits);
  if (situation.exit_code == code_of(ExitCode::stopped))
    return requeue(situation, limits, fmt::format("{} (exit {})", situation.how, situation.exit_code));
  return after_failure(situation, limits);
}

Verdict begin(const Situation& situation, const Limits& limits) {
  const auto usable = usable_of(situation, limits);
  if (usable.excluded.empty()) return {.action = Action::restart};
  auto first = situation;
  first.how = "before the first attempt in this allocation";
  // Slurm has given an excluded node to a job that was requeued to be without it: no circle comes of that.
  if (situation.requeues > 0 && situation.no_other_nodes.empty())
    first.no_other_nodes = "Slurm has given it to the job again";
  if (auto verdict = without_excluded(first, limits)) return *verdict;
  return {.action = Action::restart, .why = first.how + note_of_used(first, limits)};
}

std::string why_not_without_excluded(const Situation& situation, const Limits& limits) {
  const auto usable = usable_of(situation, limits);
  if (usable.excluded.empty() || suffices_without_excluded(usable, limits)) return {};
  if (!situation.no_other_nodes.empty()) return situation.no_other_nodes;
  if (situation.requeues >= limits.max_requeues)
    return fmt::format("the job was requeued {} already", times(situation.requeues));
  return {};
}

}  // namespace trainrt::batch
