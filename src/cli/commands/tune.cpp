// trainrt tune: searches hyperparameters with trials, each of which is a run.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "batch/restart_decision.hpp"
#include "batch/signals.hpp"
#include "batch/slurm_job.hpp"
#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/existing_path.hpp"
#include "cli/config/config_file.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/tune/given_mirror_keys.hpp"
#include "cli/tune/sweep_check.hpp"
#include "cli/tune/sweep_outcome.hpp"
#include "cli/tune/sweep_results.hpp"
#include "cli/tune/trial_command.hpp"
#include "cli/tune/tune_slices.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/process/child_environment.hpp"
#include "core/process/cpus.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
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
    "tune --config FILE [OPTION...] | tune status DIR [OPTION...] | tune best DIR [--json]";

constexpr Example tune_examples[] = {{"trainrt tune --config tune.ini", "start or resume a sweep"},
                                     {"trainrt tune status runs/sweep", "show all trials"},
                                     {"trainrt tune best runs/sweep", "show the trial with the best report"}};

constexpr CommandOption tune_options[] = {{"config", "FILE", "config of a run with the sections [tune] and [tune.space]"},
                                          override_option,
                                          trust_owner_option,
                                          {"json", "", "status, best: print JSON"},
                                          {"csv", "", "status: print a CSV table"},
                                          {"watch", "", "status: update the table until the sweep has ended"}};

constexpr ExitNote tune_exit_codes[] = {
    {0, "all trials done"},
    {64, "invalid arguments or config, no trial can start, or no trial reports tune.metric"},
    {70, "all trials failed, or one trial with tune.fail_fast = true"},
    {75, "stopped; run the same command again to continue"}};

constexpr std::string_view tune_subcommands[] = {"status", "best"};

/// Throws UsageError for `trainrt tune WORD ...` that is neither `status DIR` nor `best DIR`.
void require_subcommand(const std::vector<std::string>& operands) {
  const auto& word = operands.front();
  if (std::ranges::find(tune_subcommands, word) == std::end(tune_subcommands)) {
    const std::vector<std::string> names(std::begin(tune_subcommands), std::end(tune_subcommands));
    const auto call = word.ends_with(".ini") ? "; to start a sweep: trainrt tune --config " + shell_quoted(word) : "";
    throw UsageError(fmt::format("unexpected argument '{}'{}{}; usage: trainrt {}", excerpt(word, 60),
                                 did_you_mean(word, names), call, tune_usage));
  }
  if (operands.size() != 2)
    throw UsageError(fmt::format("missing argument: DIR, the directory of a sweep; usage: trainrt tune {} DIR", word));
  require_existing(operands[1]);
  const std::filesystem::path directory(operands[1]);
  if (io::exists(directory / "run.json") && !io::exists(directory / "sweep.json"))
    throw UsageError(fmt::format("'{}' is a run, not a sweep; to show the run: trainrt result {}", excerpt(operands[1]),
                                 shell_quoted(operands[1])));
}

/// Requeues the Slurm job, unless it was cancelled or is already requeued, so that the job continues the sweep.
void requeue_job(const Environment& environment, int max_requeues) {
  const auto job = batch::SlurmJob::of(environment);
  if (!job) return;
  const auto ending = batch::job_ending(
      {.signal = batch::stop_signal(), .cancel_reason = "", .job = job->show(), .restart_count = job->restart_count()});
  if (ending == batch::JobEnding::cancelled || ending == batch::JobEnding::requeued) return;
  const auto error = job->restart_count() < max_requeues ? job->requeue() : "the limit failure.max_requeues is reached";
  if (!error.empty()) log::info(fmt::format("job {} is not requeued: {}", job->task_id(), error));
}

tune::Sweep sweep_of(const Arguments& arguments) {
  if (!arguments.has("config"))
    throw UsageError("missing option: --config FILE; usage: trainrt " + std::string(tune_usage));
  trust_given_owner(arguments);
  auto config = read_config_file(arguments.options.at("config"));
  for (const auto& word : arguments.overrides) apply_override(config, word);
  return tune::Sweep(trainer::expanded_config(config, Environment::of_process()));
}

/// Warns if the code has changed since the sweep began.
void warn_of_changed_code(const tune::Sweep& sweep) {
  const auto record = io::retried([&] { return rundir::read_run_record(sweep.directory() + "/" + sweep.name_of(0)); });
  if (!record) return;
  const auto options = sweep.config_of(0, sweep.params_of(0));
  auto spec = config::make_run_spec(options);
  if (!spec.train.program.empty()) spec.train.command = split_program(*options.find("train.program"));
  trainer::warn_of_changed_code(*record, spec, fmt::format("the sweep in {} was started", sweep.directory()));
}

/// Prepares the sweep before this process starts trials. `groups`: number of trials that run at the same time.
void begin(const tune::Sweep& sweep, int groups) {
  check_trials(sweep);
  io::set_storage_timeout(config::make_run_spec(sweep.common_config()).failure.storage_timeout_s);
  const auto trial_file = config_file_text(trainer::written_config(sweep.common_config()));
  if (const auto changed = sweep.begin(trial_file); !changed.empty()) log::info(changed);
  tune::repair_journal(sweep);
  if (const auto retried = tune::retry_failed(sweep); !retried.empty()) log::info(retried);
  warn_of_changed_code(sweep);
  log_direction(sweep);
  log::info(fmt::format("sweep in {}: {}, {} at the same time", sweep.directory(),
                        counted(static_cast<std::int64_t>(sweep.trials()), "trial"), groups));
}

void end(const tune::Sweep& sweep, ExitCode code, const std::string& error, const Environment& environment) {
  if (!error.empty()) log::error(error);
  if (code == ExitCode::stopped)
    requeue_job(environment, config::make_run_spec(sweep.common_config()).failure.max_requeues);
  log::info(sweep_outcome(sweep, code, environment));
}

/// Runs the sweep as one rank of a job step.
ExitCode run_as_rank(const Arguments& arguments, const Environment& environment) {
  const auto load = [&] {
    auto sweep = sweep_of(arguments);
    if (sweep.place() == "steps")
      throw UsageError(
          "tune.place = steps cannot be used under srun or mpiexec: run trainrt tune once in the batch script, without "
          "srun (jobs/tune.sbatch)");
    return sweep;
  };
  const auto end_here = [&](const tune::Sweep& sweep, ExitCode code, const std::string& error) {
    end(sweep, code, error, environment);
  };
  return run_in_slices({load, begin, end_here}, environment);
}

/// Replaces this process by srun. srun starts one job step with the ranks of all slices that fit into the job's tasks.
[[noreturn]] void become_srun(const tune::Sweep& sweep, const JobSize& job, std::span<const std::string> words) {
  std::vector<std::string> command{"srun",
                                   fmt::format("--ntasks={}", job.groups(sweep.max_workers()) * sweep.max_workers())};
  for (const auto& word : added_srun_words(Environment::of_process())) command.push_back(word);
  command.insert(command.end(), {own_program(), "tune"});
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (auto& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw UsageError(fmt::format("cannot start srun: {}", std::generic_category().message(errno)));
}

/// Logs the key that sets the number of concurrent trials, if the machine has CPUs for more trials. Outside Slurm, one
/// trial runs at a time by default, because a trial may use all CPUs, memory and GPUs of the machine.
void advise_more_trials(const tune::Sweep& sweep, const JobSize& job) {
  const auto cpus = cpus_of_this_thread();
  const auto fitting = std::min<std::int64_t>(cpus / sweep.max_workers(), static_cast<std::int64_t>(sweep.trials()));
  if (job.tasks > 0 || sweep.concurrent() > 0 || fitting < 2) return;
  log::info(
      fmt::format("one trial runs at a time, on a machine with {} CPUs; to run {} at the same time, set "
                  "tune.max_concurrent_trials = {}",
                  cpus, fitting, fitting));
}

/// Runs each trial in its own processes: in a job step, or outside Slurm in processes of this node.
ExitCode run_in_steps(const tune::Sweep& sweep, const JobSize& job, const Environment& environment) {
  const auto wanted = sweep.concurrent() > 0 ? std::min(sweep.concurrent(), job.tasks > 0 ? job.groups(sweep.max_workers())
                                                                                          : sweep.concurrent())
                                             : job.groups(sweep.max_workers());
  const auto groups = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), sweep.trials()));
  batch::install_stop_signals();
  begin(sweep, groups);
  advise_more_trials(sweep, job);
  const auto command = [&](int ranks) { return trial_command(ranks, job, environment); };
  std::vector<std::unique_ptr<tune::TrialRunner>> runners;
  for (int i = 0; i < groups; ++i) runners.push_back(std::make_unique<tune::ProcessRunner>(command));
  tune::SweepRun run(sweep);
  const auto code = run.run(runners);
  end(sweep, code, run.error(), environment);
  return code;
}

ExitCode run_sweep(const Arguments& arguments, std::span<const std::string> words) {
  leave_shell_step();
  take_given_mirror_keys();
  const auto environment = Environment::of_process();
  setenv("PYTHONPATH", python_path(client_folder(), environment.text("PYTHONPATH").value_or("")).c_str(),
         1);  // for tune.searcher_program; no thread has begun yet
  if (launch::is_in_step(environment)) return run_as_rank(arguments, environment);
  const auto sweep = sweep_of(arguments);
  const auto job = job_size(environment);
  if (job.tasks > 0) set_srun_variables(environment);
  if (job.tasks > 0 && sweep.max_workers() > job.tasks)
    throw UsageError(
        fmt::format("tune.workers = {}, but the job has only {} task{}: submit the job with sbatch --ntasks={} or more",
                    sweep.max_workers(), job.tasks, job.tasks == 1 ? "" : "s", sweep.max_workers()));
  if (sweep.place() != "slices") return run_in_steps(sweep, job, environment);
  if (job.tasks == 0)
    throw UsageError(
        fmt::format("tune.place = slices needs several ranks: start them with mpiexec -n {} trainrt tune --config FILE",
                    2 * sweep.max_workers()));
  become_srun(sweep, job, words);
}

ExitCode tune_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.options = tune_options, .max_operands = 2, .overrides = true, .usage = tune_usage});
  if (arguments.operands.empty()) return run_sweep(arguments, words);
  require_subcommand(arguments.operands);
  return arguments.operands.front() == "status" ? show_status(arguments) : show_best(arguments);
}

}  // namespace

extern const Command tune;
const Command tune{
    .name = "tune",
    .group = CommandGroup::search,
    .usage = tune_usage,
    .help = "search hyperparameters: run trials of one config, several at a time",
    .examples = tune_examples,
    .options = tune_options,
    .notes =
        "[tune] sets the metric, the number of trials and the search algorithm, [tune.space] the values that trials choose "
        "from: lr = loguniform(1e-4, 1e-1). The directory of the sweep is run.storage_path/run.name. Each trial is a run "
        "in it, with its output in trial_NNNNN.log.\nThe same command continues a sweep that was stopped or killed. "
        "Several processes, such as the tasks of a job array, can share the trials of a sweep.\nIn a Slurm job, each trial "
        "is a job step of tune.workers tasks; elsewhere it runs in processes of this node. Under srun or mpiexec, or with "
        "tune.place = slices, the ranks are divided into slices of tune.workers ranks. Each slice trains one trial after "
        "another.\nA trial that fails with exit code 64 (invalid config or data) is not retried.\n",
    .exit_codes = tune_exit_codes,
    .run = tune_command,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
