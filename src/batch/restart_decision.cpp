#include "batch/restart_decision.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "batch/usable_nodes.hpp"

namespace trainrt::batch {

namespace {

using Action = RestartDecision::Action;
using Limit = RestartDecision::Limit;

constexpr double max_wait_s = 60;
// Exit code of the supervising command when Slurm itself ends or requeues the job. It differs from 75, with which the
// batch script would requeue the job a second time.
constexpr int killed_by_term = 128 + 15;

int code_of(ExitCode code) { return static_cast<int>(code); }

/// Returns a clause for messages about the saved state from which the next attempt continues.
std::string continuation(const Situation& situation) {
  if (situation.silent) return "the program continues from the files that it has saved";
  return situation.has_checkpoint ? "the run continues from its last checkpoint"
                                  : "the run starts from the beginning, since it has no checkpoint";
}

std::string fix_and_submit(const Situation& situation) {
  return fmt::format("Fix the errors above and submit the job again{}; {}", situation.again_with,
                     situation.silent ? "the program starts again, and must itself continue from files that it saved"
                                      : continuation(situation));
}

RestartDecision give_up(ExitCode code, std::string why, std::string advice, Limit limit = Limit::none) {
  return {.action = Action::give_up,
          .exit_code = code_of(code),
          .why = std::move(why),
          .advice = std::move(advice),
          .limit = limit};
}

RestartDecision leave(std::string why) {
  return {.action = Action::leave_to_slurm, .exit_code = killed_by_term, .why = std::move(why)};
}

std::string times(int count) { return fmt::format("{} time{}", count, count == 1 ? "" : "s"); }

std::string are(const std::vector<std::string>& names) { return names.size() == 1 ? "is" : "are"; }

/// Returns whether the run has enough nodes without its excluded (bad or slow) nodes. The excluded nodes may be at most
/// half of the healthy nodes.
bool suffices_without_excluded(const UsableNodes& usable, const RestartLimits& limits) {
  if (limits.fixed_workers > 0 && limits.prefers_other_nodes && !usable.excluded.empty()) return false;
  return suffices(usable, limits) && usable.excluded.size() <= usable.nodes.size();
}

RestartDecision continue_on(const UsableNodes& usable, const RestartLimits& limits, const std::string& reason) {
  return {.action = Action::restart,
          .wait_s = 1,
          .nodes = usable.nodes,
          .tasks = usable.tasks,
          .shares_cpus = limits.fixed_workers > 0,
          .why = fmt::format("{}: continuing with {}", reason, described_step(usable, limits))};
}

/// Returns the action to give up if the number of consecutive attempts without progress has reached its limit; nullopt
/// otherwise.
std::optional<RestartDecision> refused(const Situation& situation, const RestartLimits& limits) {
  if (limits.max_no_progress > 0 && situation.no_progress >= limits.max_no_progress)
    return give_up(ExitCode::no_progress,
                   fmt::format("{}; {} attempts in a row got no further than {}", situation.how, situation.no_progress,
                               situation.silent ? "earlier attempts, according to the program's output"
                                                : "the checkpoint they started from"),
                   fix_and_submit(situation), Limit::max_no_progress);
  return std::nullopt;
}

RestartDecision requeue(const Situation& situation, const RestartLimits& limits, const std::string& reason,
                        Limit limit = Limit::none) {
  if (auto decision = refused(situation, limits)) return *decision;
  if (situation.requeues >= limits.max_requeues)
    return give_up(
        ExitCode::failed, fmt::format("{}; the job was already requeued {}", situation.how, times(situation.requeues)),
        fmt::format("Submit it again{}; {}", situation.again_with, continuation(situation)), Limit::max_requeues);
  return {.action = Action::requeue,
          .exit_code = code_of(ExitCode::stopped),
          .why = fmt::format("{}: requeueing; {}", reason, continuation(situation)),
          .limit = limit};
}

/// Returns the action to take after nodes of the allocation have failed:
/// - restart on the remaining nodes if enough are left; excluded nodes are used only if necessary
/// - otherwise requeue the job
RestartDecision after_loss(const Situation& situation, const RestartLimits& limits) {
  auto usable = usable_nodes(situation, limits);
  const auto lost =
      fmt::format("{}; {} of the allocation {} lost", situation.how, fmt::join(usable.lost, ","), are(usable.lost));
  if (!suffices_without_excluded(usable, limits)) usable = usable_nodes(situation, limits, ExcludedNodes::used);
  if (suffices(usable, limits)) return continue_on(usable, limits, lost);
  if (limits.min_workers == 0 && limits.fixed_workers == 0) return requeue(situation, limits, lost, Limit::no_min_workers);
  const bool lacks_memory = limits.fixed_workers > 0 && usable.cpus >= limits.min_cpus;
  return requeue(situation, limits, fmt::format("{} ({})", lost, shortage_of(usable, limits)),
                 lacks_memory ? Limit::none : Limit::min_workers);
}

/// Returns the action by which the run continues without its excluded (bad or slow) nodes. This is a restart on the other
/// nodes of the allocation if they suffice, otherwise a requeue. Returns nullopt if no node is excluded, or if the run
/// cannot continue without the excluded nodes.
std::optional<RestartDecision> without_excluded(const Situation& situation, const RestartLimits& limits) {
  const auto usable = usable_nodes(situation, limits);
  if (usable.excluded.empty()) return std::nullopt;
  const auto reason =
      fmt::format("{}; {} {} left out", situation.how, fmt::join(usable.excluded, ","), are(usable.excluded));
  if (suffices_without_excluded(usable, limits)) return continue_on(usable, limits, reason);
  if (!situation.no_other_nodes.empty() || situation.requeues >= limits.max_requeues) return std::nullopt;
  return requeue(situation, limits, reason);
}

/// Returns the restart of all fixed workers on the nodes that are not excluded. Called if a requeue cannot replace the
/// excluded nodes. Returns nullopt if no node is excluded, or if the other nodes do not suffice.
std::optional<RestartDecision> on_fewer_nodes(const Situation& situation, const RestartLimits& limits) {
  if (limits.fixed_workers == 0 || !limits.prefers_other_nodes) return std::nullopt;
  auto others = limits;
  others.prefers_other_nodes = false;
  return without_excluded(situation, others);
}

/// Returns a clause for messages: the reason why the next attempt uses nodes that the run should avoid. Returns "" if it
/// uses no such nodes.
std::string note_of_used(const Situation& situation, const RestartLimits& limits) {
  const auto excluded = usable_nodes(situation, limits).excluded;
  if (excluded.empty()) return {};
  return fmt::format("; {} should be left out, but {} used: {}", fmt::join(excluded, ","), are(excluded),
                     why_not_without_excluded(situation, limits));
}

RestartDecision after_failure(const Situation& situation, const RestartLimits& limits) {
  if (situation.failures > limits.max_failures)
    return give_up(
        ExitCode::failed,
        fmt::format("{}; the run was already restarted {} in this allocation", situation.how, times(limits.max_failures)),
        fix_and_submit(situation), Limit::max_failures);
  if (auto decision = refused(situation, limits)) return *decision;
  if (!usable_nodes(situation, limits).lost.empty()) return after_loss(situation, limits);
  if (auto decision = without_excluded(situation, limits)) return *decision;
  if (auto decision = on_fewer_nodes(situation, limits)) return *decision;
  const int failures = situation.failures_for_pause.value_or(situation.failures);
  const double pause_s = std::min(max_wait_s, std::exp2(std::clamp(failures, 1, 10) - 1));
  const double wait_s = situation.restarts_at_once ? 0 : pause_s;
  return {.action = Action::restart,
          .wait_s = wait_s,
          .why = fmt::format("{}: restarting the run{}, restart {} of {}{}", situation.how,
                             wait_s > 0 ? fmt::format(" in {:.0f} s", wait_s) : "", situation.failures, limits.max_failures,
                             note_of_used(situation, limits)),
          .limit = Limit::max_failures};
}

/// Returns the action to take after an attempt has saved and stopped because of a slow node. This is a restart without
/// the slow node if the other nodes suffice, otherwise a restart on all nodes.
RestartDecision after_slow_node(const Situation& situation, const RestartLimits& limits) {
  if (auto decision = refused(situation, limits)) return *decision;
  if (auto decision = without_excluded(situation, limits)) return *decision;
  return {.action = Action::restart,
          .wait_s = 1,
          .why = fmt::format("{}: restarting the run{}", situation.how, note_of_used(situation, limits))};
}

/// Returns the action to take if Slurm or the user ends the job, or if a stop was requested; nullopt if the job continues.
std::optional<RestartDecision> by_ending(const Situation& situation, const RestartLimits& limits) {
  switch (situation.ending) {
    case JobEnding::none:
      return std::nullopt;
    case JobEnding::requeued:
      return leave(situation.how + "; Slurm requeues the job, and " + continuation(situation));
    case JobEnding::cancelled:
      return leave(fmt::format("{}; the job was cancelled and will not be requeued. Submit it again{}; {}", situation.how,
                               situation.again_with, continuation(situation)));
    case JobEnding::stop_requested:
    case JobEnding::time_limit:
      return requeue(situation, limits, situation.how);
  }
  return std::nullopt;
}

/// Returns the action `done` for a finished run. Adds a note to its message if Slurm will report a job state other than
/// COMPLETED.
RestartDecision done(JobEnding ending) {
  std::string why = "done; nothing is left to do";
  if (ending == JobEnding::time_limit)
    why += ". Slurm will report the job as TIMEOUT, because the job's time ended as the run finished; the run is complete";
  if (ending == JobEnding::cancelled)
    why +=
        ". Slurm will report the job as CANCELLED, because the job was cancelled as the run finished; the run is complete";
  if (ending == JobEnding::requeued) why += ". Slurm requeues the job; the job will find the run finished and exit";
  return {.action = Action::done, .why = std::move(why)};
}

/// Returns `decision`, changed for a run with a fixed number of workers: a restart on the complete allocation starts one
/// task per worker, even if the allocation has another number of tasks.
RestartDecision with_fixed_workers(RestartDecision decision, const Situation& situation, const RestartLimits& limits) {
  if (limits.fixed_workers == 0 || decision.action != Action::restart || !decision.nodes.empty()) return decision;
  const auto usable = usable_nodes(situation, limits, ExcludedNodes::used);
  if (usable.is_allocation || usable.nodes.empty()) return decision;
  decision.nodes = usable.nodes;
  decision.tasks = usable.tasks;
  decision.shares_cpus = true;
  if (decision.why.empty()) decision.why = "starting " + described_step(usable, limits);
  return decision;
}

RestartDecision decide_action(const Situation& situation, const RestartLimits& limits) {
  switch (situation.exit_code) {
    case 0:
      return done(situation.ending);
    case static_cast<int>(ExitCode::usage):
      return give_up(ExitCode::usage, "a restart would end with the same error",
                     "Do what the error above advises, and submit the job again");
    case static_cast<int>(ExitCode::no_progress):
      return give_up(ExitCode::no_progress, "a restart would make no progress",
                     "Fix the errors above and submit the job again");
    default:
      break;
  }
  if (auto decision = by_ending(situation, limits)) return *decision;
  if (situation.permanent)
    return give_up(ExitCode::failed, situation.how + "; not restarted, since it would fail again",
                   "Fix the error above and submit the job again");
  if (situation.shrunk && limits.fixed_workers > 0 && !usable_nodes(situation, limits).lost.empty())
    return after_loss(situation, limits);
  if (situation.shrunk) return requeue(situation, limits, situation.how + "; Slurm has taken a node out of the allocation");
  if (situation.exit_code == code_of(ExitCode::stopped) && situation.slow) return after_slow_node(situation, limits);
  if (situation.exit_code == code_of(ExitCode::stopped))
    return requeue(situation, limits, fmt::format("{} (exit {})", situation.how, situation.exit_code));
  return after_failure(situation, limits);
}

RestartDecision begin_action(const Situation& situation, const RestartLimits& limits) {
  const auto usable = usable_nodes(situation, limits);
  if (usable.excluded.empty()) return {.action = Action::restart};
  auto first = situation;
  first.how = "before the first attempt in this allocation";
  // The job was already requeued to avoid an excluded node, and Slurm allocated that node again. Requeueing again might
  // never end.
  if (situation.requeues > 0 && situation.no_other_nodes.empty())
    first.no_other_nodes = "Slurm has allocated it to the job again";
  if (auto decision = without_excluded(first, limits)) return *decision;
  return {.action = Action::restart, .why = first.how + note_of_used(first, limits)};
}

}  // namespace

RestartDecision decide(const Situation& situation, const RestartLimits& limits) {
  return with_fixed_workers(decide_action(situation, limits), situation, limits);
}

RestartDecision begin(const Situation& situation, const RestartLimits& limits) {
  return with_fixed_workers(begin_action(situation, limits), situation, limits);
}

std::string why_not_without_excluded(const Situation& situation, const RestartLimits& limits) {
  const auto usable = usable_nodes(situation, limits);
  if (usable.excluded.empty() || suffices_without_excluded(usable, limits)) return {};
  if (!situation.no_other_nodes.empty()) return situation.no_other_nodes;
  if (situation.requeues >= limits.max_requeues)
    return fmt::format("the job was already requeued {}", times(situation.requeues));
  return {};
}

}  // namespace trainrt::batch
