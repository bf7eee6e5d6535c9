#include "cli/supervise/supervisor.hpp"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "batch/signals.hpp"
#include "cli/supervise/watched_run.hpp"
#include "cli/words/verdict_text.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/text/printable.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "program/children/script.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "rundir/attempts/progress.hpp"
#include "rundir/records/run_record.hpp"
#include "rundir/storage/opened_run.hpp"
#include "rundir/storage/run_directory.hpp"
#include "view/summary/purge.hpp"

namespace trainrt::cli {

using Action = batch::RestartDecision::Action;

namespace {

void say(const std::string& text) { fmt::print(stderr, "trainrt supervise: {}\n", printable_text(text)); }

/// The first line, short enough for a sentence.
std::string brief(const std::string& text) {
  constexpr std::size_t longest = 300;
  const auto line = first_line(text);
  return line.size() <= longest ? line : line.substr(0, longest) + "...";
}

/// Why Slurm ends the job, in a few words; "" if it does not.
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

/// The failures after which the ranks of a step went on by themselves.
int restarts_within(int attempts) { return std::max(0, attempts - 1); }

/// The node at which a step has failed; "" if it did not fail, or if what Slurm does with its job, `cause`, has ended it.
std::string node_to_blame(const batch::StepEnd& end, const std::string& cause, bool ranks_ended_it) {
  const bool failed = end.exit_code != 0 && end.exit_code != static_cast<int>(ExitCode::stopped);
  const bool lost_a_node = !end.lines.failed_nodes().empty();
  return failed && (cause.empty() || lost_a_node) ? batch::node_to_blame(end.lines, ranks_ended_it) : "";
}

bool is_final(int exit_code) { return exit_code == 0 || exit_code == 64 || exit_code == 76; }

}  // namespace

Supervisor::Supervisor(config::RunSpec spec, batch::SlurmJob job, std::string program, std::vector<std::string> words)
    : config_(std::move(spec)),
      spec_(watched_run(config_)),
      job_(std::move(job)),
      program_(std::move(program)),
      words_(std::move(words)) {}

ExitCode Supervisor::run() {
  let_ranks_tell_run(config_);
  close_what_was_killed_with_the_job();
  auto verdict = begin();
  if (!verdict.why.empty()) say(text_of(verdict));
  if (const auto warning = view::purge_warning(spec_.run_dir, spec_.storage.purge_days); !warning.empty())
    log::warning(warning);
  while (verdict.action == Action::restart) {
    auto before = last_number();
    tell_ranks();
    const bool needs_all = verdict.nodes.empty();
    const io::Descriptor input(config_.train.program.empty() ? -1 : input_.open());
    auto end = batch::run_step(command(verdict), signals_, needs_all, input.get());
    const auto then = std::exchange(spec_, watched_run(config_));
    before = number_before(then, before, spec_);
    // srun of Slurm 22.05 ends with 0 if a node dies while the step is being launched.
    if (end.exit_code == 0 && !has_finished()) end.exit_code = batch::exit_of_srun;
    verdict = after(end, before, needs_all);
    say(text_of(verdict));
    if (verdict.action != Action::restart) break;
    if (const int signal = signals_.wait(verdict.wait_s); signal != 0) {
      verdict = asked_to_end(signal);
      say(text_of(verdict));
    }
    // A node that lost its slurmstepd never says that the last step has ended there, and Slurm keeps the CPUs for it. By
    // the environment, since Slurm before 20.11 does not know the option.
    setenv("SLURM_OVERLAP", "1", 1);
  }
  return carry_out(verdict);
}

/// The shape of the first step.
batch::RestartDecision Supervisor::begin() {
  exclusions_.read(spec_);
  batch::Situation situation{.requeues = job_.restart_count()};
  if (exclusions_.empty()) return batch::begin(situation, limits());
  const auto facts = job_.show();
  situation.nodes = job_.nodes(facts);
  exclusions_.mark(situation, facts);
  return batch::begin(situation, limits());
}

/// What they need to know before they decide to end: how often they may fail, and whether a slow node can be left out.
void Supervisor::tell_ranks() const {
  setenv("TRAINRT_FAILURES", std::to_string(failures_).c_str(), 1);
  if (spec_.failure.exclude_slow <= 0) return;
  const auto facts = job_.show();
  const batch::Situation situation{.nodes = job_.nodes(facts), .requeues = job_.restart_count()};
  const auto refusal = exclusions_.refusal(situation, facts, limits(), spec_.failure.max_excluded_nodes);
  setenv("TRAINRT_EXCLUSION", refusal.c_str(), 1);
}

batch::RestartDecision Supervisor::after(const batch::StepEnd& end, int before, bool needed_all) {
  const bool srun_was_killed = end.exit_code > 128 && end.lines.dead().empty() && end.lines.failed_nodes().empty();
  if (srun_was_killed) job_.end_steps();  // its ranks may live on, and the run takes one attempt at a time
  const bool slurm_says_nothing = end.signal == 0 && end.lines.cancel_reason().empty();
  const auto facts = is_final(end.exit_code) && slurm_says_nothing ? std::nullopt : job_.show();
  const int signal = end.signal == 0 && end.lines.stop_signal_killed() ? SIGUSR1 : end.signal;
  batch::Situation situation{.exit_code = end.exit_code};
  situation.ending = batch::job_ending(
      {.signal = signal, .cancel_reason = end.lines.cancel_reason(), .job = facts, .restart_count = job_.restart_count()});
  situation.how = write_down(end, situation.ending, before);
  returns_ = situation.ending == batch::JobEnding::requeued;
  situation.silent = rundir::last_attempt_was_silent(spec_.run_dir);
  situation.shrunk = needed_all && end.lines.allocation_shrank();
  if (is_final(end.exit_code)) return batch::decide(situation, limits());
  situation.nodes = nodes_after(end, facts);
  const bool stopped = end.exit_code == static_cast<int>(ExitCode::stopped);
  if (const auto attempt = attempt_since(before)) {
    exclusions_.take_end(spec_);
    situation.slow = stopped && !attempt->blamed_node.empty();
  }
  exclusions_.mark(situation, facts);
  failures_ += restarts_within(last_number() - before);
  const auto lost = static_cast<std::size_t>(std::ranges::count(situation.nodes, false, &batch::Node::healthy));
  if (!stopped && lost <= lost_nodes_) ++failures_;
  lost_nodes_ = lost;
  situation.failures = failures_;
  situation.requeues = job_.restart_count();
  situation.no_progress =
      rundir::attempts_without_progress(rundir::read_attempts(spec_.run_dir, rundir::max_recent_attempts), job_.id());
  return batch::decide(situation, limits());
}

/// Between two attempts: everything that is committed is safe.
batch::RestartDecision Supervisor::asked_to_end(int signal) {
  const auto ending =
      batch::job_ending({.signal = signal, .cancel_reason = "", .job = job_.show(), .restart_count = job_.restart_count()});
  return batch::decide({.exit_code = static_cast<int>(ExitCode::stopped),
                        .how = batch::signal_name(signal) + " came between two attempts",
                        .ending = ending,
                        .requeues = job_.restart_count(),
                        .silent = rundir::last_attempt_was_silent(spec_.run_dir)},
                       limits());
}

batch::RestartLimits Supervisor::limits() const {
  int workers = spec_.scaling.num_workers;
  if (workers == 0)
    for (const auto& attempt : rundir::read_attempts(spec_.run_dir, rundir::max_recent_attempts))
      if (attempt.owner.job_id == job_.id()) workers = std::max(workers, attempt.ranks);
  return {.max_failures = spec_.failure.max_failures,
          .max_requeues = spec_.failure.max_requeues,
          .max_no_progress = spec_.failure.max_no_progress,
          .min_workers = spec_.scaling.min_workers,
          .workers = workers};
}

/// `shape` names the nodes of a step on a part of the allocation; what the user says of the step's shape holds for the
/// whole.
std::vector<std::string> Supervisor::command(const batch::RestartDecision& shape) const {
  // --kill-on-bad-exit=0: an exit code of 75 comes through. --wait: if a rank ends early, and well, the others do not
  // wait for it for ever. --immediate: nor does srun for nodes that Slurm takes to be busy.
  std::vector<std::string> command = {"srun", "--kill-on-bad-exit=0", "--wait=20", "--immediate=300"};
  const bool is_for_all = program::reads_script_from_input(config_.train.command);
  if (!config_.train.program.empty() && input_.kind() != InputKind::none && !is_for_all) command.emplace_back("--input=0");
  std::istringstream given(Environment::of_process().text("TRAINRT_SRUN_ARGS").value_or(""));
  for (std::string word; given >> word;) command.push_back(word);
  if (!shape.nodes.empty())
    for (auto word : {fmt::format("--nodes={}", shape.nodes.size()), fmt::format("--ntasks={}", shape.tasks),
                      fmt::format("--nodelist={}", fmt::join(shape.nodes, ",")), std::string("--distribution=block")})
      command.push_back(std::move(word));
  command.push_back(program_);
  command.insert(command.end(), words_.begin(), words_.end());
  return command;
}

std::vector<batch::Node> Supervisor::nodes_after(const batch::StepEnd& end,
                                                 const std::optional<batch::JobFacts>& facts) const {
  auto nodes = job_.nodes(facts);
  // Slurm takes its time to find a node down; srun met it just now.
  for (auto& node : nodes)
    if (std::ranges::find(end.lines.failed_nodes(), node.name) != end.lines.failed_nodes().end()) node.healthy = false;
  return nodes;
}

/// Closes the record of the attempt that this step was, or adds what it could not know. Returns how it ended.
std::string Supervisor::write_down(const batch::StepEnd& end, batch::JobEnding ending, int before) const {
  const auto cause = cause_of(end.lines, ending);
  const auto seen =
      cause.empty() ? batch::how_it_ended(end.lines, end.exit_code) : fmt::format("{}: {}", rundir::ended_by_slurm, cause);
  const auto last = attempt_since(before);
  if (!last) return fmt::format("{} before an attempt had begun", seen);
  const bool has_end = !last->end.empty();
  const auto blamed = node_to_blame(end, cause, has_end);
  try {
    if (!has_end)
      rundir::close_attempt(spec_.run_dir, last->number, seen, end.exit_code, blamed);
    else if (!cause.empty() && !is_final(end.exit_code))
      rundir::append_cause(spec_.run_dir, last->number, cause);
    if (has_end && (!blamed.empty() || end.lines.out_of_memory()))
      rundir::set_blamed_node(spec_.run_dir, last->number, blamed);
  } catch (const std::exception& error) {
    log::warning(fmt::format("how attempt {} ended could not be written down: {}", last->number, error.what()));
  }
  return fmt::format("attempt {}: {}{}", last->number, has_end ? brief(last->why) : seen,
                     has_end && !cause.empty() ? " (" + cause + ")" : "");
}

bool Supervisor::has_finished() const {
  try {
    const auto record = rundir::read_run_record(spec_.run_dir);
    return record && record->state == rundir::RunState::finished;
  } catch (const std::exception&) {
    return false;
  }
}

int Supervisor::last_number() const {
  const auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  return attempts.empty() ? 0 : attempts.back().number;
}

/// The attempt that a step was, if it began one in this job.
std::optional<rundir::AttemptRecord> Supervisor::attempt_since(int last_number) const {
  auto attempts = rundir::read_attempts(spec_.run_dir, 1);
  if (attempts.empty() || attempts.back().number <= last_number || attempts.back().owner.job_id != job_.id())
    return std::nullopt;
  return std::move(attempts.back());
}

/// What ran in this job before it was requeued has ended, with or without a word.
void Supervisor::close_what_was_killed_with_the_job() const {
  for (const auto& attempt : rundir::read_attempts(spec_.run_dir, 1))
    if (attempt.end.empty() && attempt.owner.job_id == job_.id() && attempt.owner.restart_count < job_.restart_count())
      rundir::close_attempt(spec_.run_dir, attempt.number,
                            fmt::format("{}: killed with its job, which was requeued", rundir::ended_by_slurm),
                            128 + SIGKILL);
}

ExitCode Supervisor::carry_out(const batch::RestartDecision& verdict) const {
  if (verdict.exit_code == 0) rundir::forget_opened_run(config_.run_dir);
  write_state(verdict.action == Action::give_up ? rundir::RunState::failed : rundir::RunState::stopped);
  const bool may_come_back = verdict.action == Action::requeue || returns_;
  const auto before = may_come_back && !exclusions_.empty() ? job_.show() : std::nullopt;
  const auto error = verdict.action == Action::requeue ? job_.requeue() : "";
  if (!error.empty())
    say(fmt::format("job {} could not be requeued ({}): exit {} leaves it to the batch script", job_.task_id(), error,
                    verdict.exit_code));
  if (may_come_back && error.empty()) exclusions_.pass_on(before);
  return static_cast<ExitCode>(verdict.exit_code);
}

/// run.json of a run that was killed says that it runs.
void Supervisor::write_state(rundir::RunState state) const {
  try {
    auto record = rundir::read_run_record(spec_.run_dir);
    if (!record || record->state != rundir::RunState::running) return;
    record->state = state;
    // As the attempt that was killed would have written it: if a newer one has taken the run over, this loses.
    const int newest = rundir::read_attempts(spec_.run_dir, 1).back().number;
    rundir::write_run_record(io::FencedDirectory(spec_.run_dir, rundir::private_directory(spec_.run_dir, newest)), *record);
  } catch (const std::exception& error) {
    log::warning(fmt::format("the state of the run could not be written down: {}", error.what()));
  }
}

}  // namespace trainrt::cli
