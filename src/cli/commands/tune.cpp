// trainrt tune: a search over hyperparameters, whose trials are runs.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "batch/restart_decision.hpp"
#include "batch/signals.hpp"
#include "batch/slurm_job.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/config/config_file.hpp"
#include "cli/config/load_run_spec.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/tune/sweep_check.hpp"
#include "cli/tune/sweep_results.hpp"
#include "cli/tune/tune_slices.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/process/child_environment.hpp"
#include "core/text/text.hpp"
#include "io/storage_retry.hpp"
#include "launch/expected_size.hpp"
#include "rundir/records/run_record.hpp"
#include "trainer/records/finished_run.hpp"
#include "trainer/start/expanded_config.hpp"
#include "tune/run/journal_repair.hpp"
#include "tune/run/sweep_run.hpp"
#include "tune/trials/process_runner.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view tune_usage =
    "tune --config FILE [--trust-owner=USER] [--section.key=value ...] | tune status DIR [--json|--csv|--watch] | tune "
    "best DIR [--json]";

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The tasks that the Slurm job has for trials; 0 outside a job.
struct Room {
  int tasks = 0, nodes = 1;
  int groups(int workers) const { return tasks == 0 ? 1 : std::max(tasks / workers, 1); }
  int nodes_of(int workers) const { return std::clamp((workers * nodes + tasks - 1) / tasks, 1, nodes); }
};

Room room_of(const Environment& environment) {
  if (!environment.has("SLURM_JOB_ID")) return {};
  return {std::max(environment.number("SLURM_NTASKS").value_or(1), 1),
          std::max(environment.number("SLURM_NNODES").value_or(1), 1)};
}

std::vector<std::string> added_srun_words(const Environment& environment) {
  std::istringstream given(environment.text("TRAINRT_SRUN_ARGS").value_or(""));
  return {std::istream_iterator<std::string>(given), {}};
}

/// What starts the ranks of a trial: a step on a part of the job, else this program itself.
std::vector<std::string> starter(const tune::Sweep& sweep, const Room& room, const Environment& environment) {
  const auto ranks = std::to_string(sweep.workers());
  if (room.tasks == 0 && sweep.workers() == 1) return {own_program(), "run"};
  if (room.tasks == 0) return {own_program(), "run", "-n", ranks};
  // --mem=0: steps share the job's memory, else the first one takes all of it.
  std::vector<std::string> command{"/usr/bin/env",
                                   "srun",
                                   "--exact",
                                   "--mem=0",
                                   "--kill-on-bad-exit=0",
                                   "--wait=20",
                                   fmt::format("--nodes={}", room.nodes_of(sweep.workers())),
                                   "--ntasks=" + ranks};
  for (const auto& word : added_srun_words(environment)) command.push_back(word);
  command.push_back(own_program());
  command.emplace_back("run");
  return command;
}

/// A job that is not cancelled comes back, so that the sweep goes on by itself.
void bring_back(const Environment& environment, int max_requeues) {
  const auto job = batch::SlurmJob::of(environment);
  if (!job) return;
  const auto ending = batch::job_ending(
      {.signal = batch::stop_signal(), .cancel_reason = "", .job = job->show(), .restart_count = job->restart_count()});
  if (ending == batch::JobEnding::cancelled || ending == batch::JobEnding::requeued) return;
  const auto error = job->restart_count() < max_requeues ? job->requeue() : "failure.max_requeues is reached";
  if (!error.empty()) log::info(fmt::format("job {} is not requeued: {}", job->task_id(), error));
}

std::string in_words(ExitCode code, const tune::Sweep& sweep) {
  if (code == ExitCode::stopped) return "the sweep has stopped; the same command goes on with it";
  if (code == ExitCode::usage)
    return fmt::format(
        "the sweep has ended. Fix the error above and start a sweep of another run.name; trials so far: "
        "trainrt tune status {}",
        sweep.directory());
  if (code == ExitCode::failed && sweep.fail_fast())
    return "a trial has failed, and tune.fail_fast is true: the sweep has stopped; the same command goes on with the "
           "others";
  if (code == ExitCode::failed)
    return fmt::format("all trials have failed: trainrt tune status {}; the same command tries them again",
                       shell_quoted(sweep.directory()));
  return fmt::format("the sweep is complete: trainrt tune status {}", sweep.directory());
}

tune::Sweep sweep_of(const Arguments& arguments) {
  if (!arguments.has("config")) throw UsageError("--config FILE is missing; usage: trainrt " + std::string(tune_usage));
  trust_given_owner(arguments);
  auto config = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) apply_override(config, word);
  return tune::Sweep(trainer::expanded_config(config, Environment::of_process()));
}

/// Trials that were run before may be of other code.
void warn_of_changed_code(const tune::Sweep& sweep) {
  const auto run_dir = sweep.directory() + "/" + sweep.name_of(0);
  const auto record = io::retried([&] { return rundir::read_run_record(run_dir); });
  if (!record) return;
  const auto options = sweep.config_of(0, sweep.params_of(0));
  auto spec = config::make_run_spec(options);
  if (!spec.train.program.empty()) spec.train.command = split_program(*options.find("train.program"));
  trainer::warn_of_changed_code(*record, spec, fmt::format("the sweep in {} was begun", sweep.directory()));
}

/// Once for all that run trials here, `groups` at once.
void begin(const tune::Sweep& sweep, int groups) {
  check_trials(sweep);
  io::set_storage_timeout(config::make_run_spec(sweep.common_config()).failure.storage_timeout_s);
  const auto trial_file = config_file_text(trainer::written_config(sweep.common_config()));
  if (const auto changed = sweep.begin(trial_file); !changed.empty()) log::info(changed);
  tune::repair_journal(sweep);
  if (tune::retry_if_all_failed(sweep)) log::info("all trials of the sweep had failed: they are tried again");
  warn_of_changed_code(sweep);
  log::info(fmt::format("sweep in {}: {}, {} at once", sweep.directory(),
                        counted(static_cast<std::int64_t>(sweep.trials()), "trial"), groups));
}

void end(const tune::Sweep& sweep, ExitCode code, const Environment& environment) {
  if (code == ExitCode::stopped) bring_back(environment, config::make_run_spec(sweep.common_config()).failure.max_requeues);
  log::info(in_words(code, sweep));
}

/// This process is a rank of a step.
ExitCode run_as_rank(const Arguments& arguments, const Environment& environment) {
  const auto make = [&] {
    auto sweep = sweep_of(arguments);
    if (sweep.place() == "steps")
      throw UsageError(
          "tune.place is steps: trainrt tune starts srun itself. Call it once, in the batch script, without srun in front "
          "(jobs/tune.sbatch)");
    return sweep;
  };
  const auto end_here = [&](const tune::Sweep& sweep, ExitCode code) { end(sweep, code, environment); };
  return run_in_slices({make, begin, end_here}, environment);
}

/// This process becomes the srun of one step of all slices that the job has tasks for.
[[noreturn]] void become_srun(const tune::Sweep& sweep, const Room& room, std::span<const std::string> words) {
  std::vector<std::string> command{"srun", fmt::format("--ntasks={}", room.groups(sweep.workers()) * sweep.workers())};
  for (const auto& word : added_srun_words(Environment::of_process())) command.push_back(word);
  command.insert(command.end(), {own_program(), "tune"});
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (auto& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw UsageError(fmt::format("srun cannot be started: {}", std::generic_category().message(errno)));
}

/// Trials in processes of their own.
ExitCode run_in_steps(const tune::Sweep& sweep, const Room& room, const Environment& environment) {
  const auto wanted = sweep.concurrent() > 0
                          ? std::min(sweep.concurrent(), room.tasks > 0 ? room.groups(sweep.workers()) : sweep.concurrent())
                          : room.groups(sweep.workers());
  const auto groups = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), sweep.trials()));
  batch::install_stop_signals();
  begin(sweep, groups);
  const auto command = starter(sweep, room, environment);
  std::vector<std::unique_ptr<tune::TrialRunner>> runners;
  for (int i = 0; i < groups; ++i) runners.push_back(std::make_unique<tune::ProcessRunner>(command));
  const auto code = tune::SweepRun(sweep).run(runners);
  end(sweep, code, environment);
  return code;
}

ExitCode run_sweep(const Arguments& arguments, std::span<const std::string> words) {
  leave_shell_step();
  const auto environment = Environment::of_process();
  const auto packages = python_path(client_folder(), environment.text("PYTHONPATH").value_or(""));
  setenv("PYTHONPATH", packages.c_str(), 1);  // for tune.searcher_program; no thread has begun yet
  if (launch::is_in_step(environment)) return run_as_rank(arguments, environment);
  const auto sweep = sweep_of(arguments);
  const auto room = room_of(environment);
  if (room.tasks > 0) set_srun_variables(environment);
  if (room.tasks > 0 && sweep.workers() > room.tasks)
    throw UsageError(fmt::format("tune.workers is {}, and the job has {} tasks: ask for more, sbatch --ntasks",
                                 sweep.workers(), room.tasks));
  if (sweep.place() != "slices") return run_in_steps(sweep, room, environment);
  if (room.tasks == 0)
    throw UsageError(fmt::format("tune.place is slices: start the ranks, mpiexec -n {} trainrt tune --config FILE",
                                 2 * sweep.workers()));
  become_srun(sweep, room, words);
}

ExitCode tune_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.with_value = {"config", "trust-owner"},
                                                 .switches = {"json", "csv", "watch"},
                                                 .max_operands = 2,
                                                 .overrides = true,
                                                 .usage = std::string(tune_usage)});
  if (arguments.operands.empty()) return run_sweep(arguments, words);
  const auto& what = arguments.operands.front();
  if ((what != "status" && what != "best") || arguments.operands.size() != 2)
    throw UsageError(fmt::format("'{}': usage: trainrt {}", what, tune_usage));
  return what == "status" ? show_status(arguments) : show_best(arguments);
}

}  // namespace

extern const Command tune;
const Command tune{
    .name = "tune",
    .usage = tune_usage,
    .help = "search over hyperparameters: trials of one config, several at once, without a server",
    .details =
        "FILE is a run's config with two sections more: [tune] names the metric, the number of trials and how they are\n"
        "chosen, [tune.space] what each trial sets: lr = loguniform(1e-4, 1e-1). A sweep is the directory\n"
        "run.storage_path/run.name; each trial is a run in it, with its output in trial_NNNNN.log.\n"
        "The same command goes on with a sweep that was stopped or killed; given several times, by tasks of a job array "
        "for\n"
        "example, its processes share the trials.\n"
        "In a Slurm job each trial is a step of tune.workers tasks; elsewhere a process here. Started by srun or mpiexec, "
        "or\n"
        "with tune.place = slices, the ranks are cut into groups of tune.workers, which train one trial after another.\n"
        "status shows all trials, best the one with the best report.\n"
        "A trial that ends with 64 is not tried again. A config that no trial can start with ends the sweep with 64.\n"
        "Exit codes: 0 all trials are over, 64 bad usage or config, 70 all have failed, 75 stopped: run the same command "
        "again.",
    .run = tune_command,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
