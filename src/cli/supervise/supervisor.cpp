#include "cli/supervise/supervisor.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/start/recovery_text.hpp"
#include "cli/supervise/restart_message.hpp"
#include "cli/supervise/srun_command.hpp"
#include "cli/supervise/step_record.hpp"
#include "core/descriptor.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/restart_help.hpp"
#include "core/text/printable.hpp"
#include "program/children/script.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/storage/opened_run.hpp"
#include "view/summary/purge.hpp"

namespace trainrt::cli {

using Action = batch::RestartDecision::Action;

namespace {

void print(const std::string& text) { fmt::print(stderr, "trainrt supervise: {}\n", printable_text(text)); }

/// Returns the number of nodes of the Slurm job; 0 if it is unknown.
int nodes_of_job() { return static_cast<int>(Environment::of_process().number("SLURM_JOB_NUM_NODES").value_or(0)); }

bool is_stop(int exit_code) { return exit_code == static_cast<int>(ExitCode::stopped); }

bool srun_was_killed(const batch::StepEnd& end) {
  return end.exit_code > 128 && end.lines.dead().empty() && end.lines.failed_nodes().empty();
}

}  // namespace

Supervisor::Supervisor(config::RunSpec spec, batch::SlurmJob job, std::string program, std::vector<std::string> words)
    : run_(std::move(spec)),
      job_(std::move(job)),
      program_(std::move(program)),
      words_(std::move(words)),
      copies_(run_.config(), nodes_of_job()) {}

ExitCode Supervisor::run() {
  record_end_by_requeue(run_.spec().run_dir, job_);
  auto decision = decide_first_step();
  if (!decision.why.empty()) print(restart_message(decision));
  if (const auto warning = view::purge_warning(run_.spec().run_dir, run_.spec().storage.purge_days); !warning.empty())
    log::warning(warning);
  if (decision.action == Action::restart)
    log_recovery(run_.config(), {.nodes = nodes_of_job(), .no_standby = "srun starts the ranks"});
  while (decision.action == Action::restart) {
    const auto end = run_step(decision);
    decision = decide_after(end, decision.nodes.empty());
    print(restart_message(decision));
    if (decision.action != Action::restart) break;
    run_.announce_restart(decision, failures_);
    if (const int signal = signals_.wait(decision.wait_s); signal != 0) {
      run_.retract_restart();
      decision = decide_after_signal(signal);
      print(restart_message(decision));
    }
  }
  return carry_out(decision);
}

// --- the steps of run(), in their order ---------------------------------------------------------------------------------

batch::RestartDecision Supervisor::decide_first_step() {
  exclusions_.read(run_.spec());
  batch::Situation situation{.tasks = job_.tasks(), .requeues = job_.restart_count()};
  const auto bounds = limits();
  if (exclusions_.empty() && bounds.fixed_workers == 0) return batch::begin(situation, bounds);
  const auto facts = job_.show();
  situation.nodes = job_.nodes(facts, batch::UnreadyNodes::usable);  // srun waits for nodes that Slurm is powering up
  exclusions_.mark(situation, facts);
  return batch::begin(situation, bounds);
}

/// Runs one job step on the nodes of `shape`, and blocks until it has ended.
batch::StepEnd Supervisor::run_step(const batch::RestartDecision& shape) {
  run_.begin_start(failures_);
  setenv(supervised_variable, "1", 1);
  set_exclusion_variable();
  const Descriptor input(run_.config().train.program.empty() ? -1 : input_.open());
  const bool needs_all_nodes = shape.nodes.empty();
  copies_.begin_start();
  auto end = batch::run_step(command(shape), signals_, needs_all_nodes, input.get());
  run_.end_start();
  // srun of Slurm 22.05 exits with 0 if a node fails while the job step is being launched.
  if (end.exit_code == 0 && !run_.has_finished()) end.exit_code = batch::exit_of_srun;
  // srun of Slurm 24.11 may exit with 1 after all ranks have stopped with 75.
  if (end.exit_code == 1 && end.lines.ranks_stopped()) end.exit_code = static_cast<int>(ExitCode::stopped);
  // Lets the next job step use CPUs that Slurm still reserves for this one, on a node whose slurmstepd has died. Set as a
  // variable, because srun before Slurm 20.11 has no option --overlap.
  setenv("SLURM_OVERLAP", "1", 1);
  return end;
}

batch::RestartDecision Supervisor::decide_after(const batch::StepEnd& end, bool needed_all_nodes) {
  if (srun_was_killed(end)) job_.end_steps();  // ends ranks that still run; a run allows one attempt at a time
  const bool has_reason = end.signal != 0 || !end.lines.cancel_reason().empty();
  const auto facts = is_final(end.exit_code) && !has_reason ? std::nullopt : job_.show();
  batch::Situation situation{.exit_code = end.exit_code, .ending = ending_after(end, facts)};
  slurm_requeues_ = situation.ending == batch::JobEnding::requeued;
  situation.how = record_step_end(run_.spec().run_dir, begun_attempt(), end, situation.ending);
  situation.silent = run_.is_silent();
  situation.has_checkpoint = run_.has_checkpoint();
  situation.permanent = run_.is_permanent() || !run_.repeated_mistake().empty();
  situation.restarts_at_once = copies_.is_in_use();
  situation.again_with = run_.again_with();
  situation.shrunk = needed_all_nodes && end.lines.allocation_shrank();
  if (is_final(end.exit_code)) return batch::decide(situation, limits());
  inspect_nodes(situation, end, facts);
  count_failures(situation);
  return batch::decide(situation, limits());
}

/// Returns the decision after a stop signal between two attempts: at this time no rank runs, so no progress is unsaved.
batch::RestartDecision Supervisor::decide_after_signal(int signal) const {
  const auto ending =
      batch::job_ending({.signal = signal, .cancel_reason = "", .job = job_.show(), .restart_count = job_.restart_count()});
  return batch::decide({.exit_code = static_cast<int>(ExitCode::stopped),
                        .how = batch::signal_name(signal) + " arrived between two attempts",
                        .ending = ending,
                        .requeues = job_.restart_count(),
                        .silent = run_.is_silent(),
                        .has_checkpoint = run_.has_checkpoint(),
                        .again_with = run_.again_with()},
                       limits());
}

/// Records the state of the run, and requeues the job if `decision` demands it. Returns the exit code.
ExitCode Supervisor::carry_out(const batch::RestartDecision& decision) {
  if (decision.exit_code == 0) rundir::forget_opened_run(run_.config().run_dir);
  run_.record_end(decision.action == Action::give_up ? rundir::RunState::failed : rundir::RunState::stopped);
  const bool requeues = decision.action == Action::requeue;
  const bool may_start_again = requeues || slurm_requeues_;
  const auto facts_before = may_start_again && !exclusions_.empty() ? job_.show() : std::nullopt;
  if (may_start_again) run_.announce_requeue();  // before the requeue, which may end this process
  const auto error = requeues ? job_.requeue() : "";
  if (!error.empty()) {
    run_.retract_restart();
    print(fmt::format("job {} could not be requeued ({}): exit code {} leaves the requeue to the batch script",
                      job_.task_id(), error, decision.exit_code));
  }
  if (may_start_again && error.empty()) exclusions_.apply_to_requeued_job(facts_before);
  return static_cast<ExitCode>(decision.exit_code);
}

// --- helpers of these steps ---------------------------------------------------------------------------------------------

/// Sets TRAINRT_EXCLUSION to the reason why a slow node cannot be excluded. The value is "" if it can be excluded; the
/// ranks then stop when they find a slow node.
void Supervisor::set_exclusion_variable() const {
  if (run_.spec().failure.exclude_slow <= 0) return;
  const auto facts = job_.show();
  const batch::Situation situation{.nodes = job_.nodes(facts), .requeues = job_.restart_count()};
  const auto refusal = exclusions_.refusal(situation, facts, limits(), run_.spec().failure.max_excluded_nodes);
  setenv("TRAINRT_EXCLUSION", refusal.c_str(), 1);
}

std::vector<std::string> Supervisor::command(const batch::RestartDecision& shape) const {
  const auto& train = run_.config().train;
  const bool has_input = !train.program.empty() && input_.kind() != InputKind::none;
  const auto user_options = Environment::of_process().text("TRAINRT_SRUN_ARGS").value_or("");
  auto command = srun_command(shape, user_options, has_input && !program::reads_script_from_input(train.command));
  command.push_back(program_);
  command.insert(command.end(), words_.begin(), words_.end());
  return command;
}

batch::JobEnding Supervisor::ending_after(const batch::StepEnd& end, const std::optional<batch::JobFacts>& facts) const {
  const int signal = end.signal == 0 && end.lines.stop_signal_killed() ? SIGUSR1 : end.signal;
  return batch::job_ending(
      {.signal = signal, .cancel_reason = end.lines.cancel_reason(), .job = facts, .restart_count = job_.restart_count()});
}

/// Returns the attempt that the last job step began; nullopt if the step ended before it began an attempt.
std::optional<rundir::AttemptRecord> Supervisor::begun_attempt() const {
  auto attempt = run_.begun_attempt();
  return attempt && attempt->owner.job_id == job_.id() ? std::move(attempt) : std::nullopt;
}

/// Sets Situation::nodes, the nodes of the job, and excludes a node that ended or slowed down the last attempt.
void Supervisor::inspect_nodes(batch::Situation& situation, const batch::StepEnd& end,
                               const std::optional<batch::JobFacts>& facts) {
  situation.nodes = job_.nodes(facts);
  situation.tasks = job_.tasks();
  // Marks the nodes that srun has seen fail, because Slurm itself may notice their failure later.
  for (auto& node : situation.nodes)
    if (std::ranges::count(end.lines.failed_nodes(), node.name) > 0) node.healthy = false;
  if (const auto attempt = begun_attempt()) {
    exclusions_.update_after_attempt(run_.spec());
    situation.slow = is_stop(end.exit_code) && !attempt->blamed_node.empty();
  }
  exclusions_.mark(situation, facts);
}

/// Sets the numbers of failures, requeues and attempts without progress. The loss of a node does not count as a failure.
void Supervisor::count_failures(batch::Situation& situation) {
  failures_ += run_.restarts_by_ranks();
  const auto lost = static_cast<std::size_t>(std::ranges::count(situation.nodes, false, &batch::Node::healthy));
  if (!is_stop(situation.exit_code) && lost <= lost_nodes_) ++failures_;
  lost_nodes_ = lost;
  situation.failures = failures_;
  situation.requeues = job_.restart_count();
  const auto attempts = rundir::read_attempts(run_.spec().run_dir, rundir::max_recent_attempts);
  situation.no_progress = rundir::attempts_without_progress(attempts, job_.id());
}

batch::RestartLimits Supervisor::limits() const {
  const auto& spec = run_.spec();
  int workers = spec.scaling.num_workers;
  if (workers == 0)
    for (const auto& attempt : rundir::read_attempts(spec.run_dir, rundir::max_recent_attempts))
      if (attempt.owner.job_id == job_.id()) workers = std::max(workers, attempt.ranks);
  return {.max_failures = spec.failure.max_failures,
          .max_requeues = spec.failure.max_requeues,
          .max_no_progress = spec.failure.max_no_progress,
          .min_workers = spec.scaling.has_fixed_workers() ? 0 : spec.scaling.min_workers,
          .workers = workers,
          .fixed_workers = run_.fixed_workers(job_.id()),
          .prefers_other_nodes = !spec.scaling.requires_fixed_workers(),
          .min_cpus = std::max(1, spec.scaling.min_workers),
          .max_workers_per_node = run_.max_workers_per_node()};
}

}  // namespace trainrt::cli
