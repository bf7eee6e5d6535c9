// trainrt supervise: runs srun in a batch script, restarts the run after failures, and requeues the job.
#include <filesystem>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "cli/command_line/command.hpp"
#include "cli/start/load_run_spec.hpp"
#include "cli/start/script_input.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/supervise/supervisor.hpp"
#include "core/environment.hpp"
#include "core/text/text.hpp"
#include "launch/expected_size.hpp"
#include "trainer/records/own_run.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view supervise_usage = "supervise [--config FILE] [--section.key=value ...] [-- PROGRAM ARGS]";

constexpr Example supervise_examples[] = {{"trainrt supervise --config train.ini", "the last line of a batch script"},
                                          {"trainrt supervise -- python3 train.py", "a program, without a config"}};

constexpr CommandOption supervise_options[] = {config_option, override_option, program_option, trust_owner_option,
                                               verbose_option};

constexpr ExitNote supervise_exit_codes[] = {{0, "finished"},
                                             {64, "invalid arguments, config, data or run directory"},
                                             {70, "given up after failures"},
                                             {75, "stopped and saved; the job may have been requeued"},
                                             {76, "repeated attempts made no progress"},
                                             {143, "Slurm ends the job"}};

/// Returns the Slurm job of this process. Throws UsageError outside a job, and in a job step. `words` are the words
/// after `supervise`, which the message repeats.
batch::SlurmJob require_job(const Environment& environment, std::span<const std::string> words) {
  if (launch::is_in_step(environment))
    throw UsageError("trainrt supervise starts srun itself: call it once in the batch script, without srun");
  auto job = batch::SlurmJob::of(environment);
  if (job) return *job;
  std::string call = "trainrt -n N";
  for (const auto& word : words) call += " " + shell_quoted(word);
  throw UsageError(
      fmt::format("trainrt supervise works inside a Slurm allocation, and SLURM_JOB_ID is not set: call it in a batch "
                  "script (sbatch) or under salloc. Without Slurm, this starts N ranks on this machine: {}",
                  call));
}

ExitCode supervise_command(std::span<const std::string> words) {
  leave_shell_step();
  const auto environment = Environment::of_process();
  auto spec = load_run_spec(words, std::string(supervise_usage));
  auto job = require_job(environment, words);
  trainer::require_own_run(spec);
  hold_script_from_input(spec);
  set_srun_variables(environment);
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  return Supervisor(std::move(spec), std::move(job), program, {words.begin(), words.end()}).run();
}

}  // namespace

extern const Command supervise;
const Command supervise{
    .name = "supervise",
    .group = CommandGroup::run,
    .order = 2,
    .usage = supervise_usage,
    .help = "start the run by srun in a batch script, and restart or requeue it",
    .examples = supervise_examples,
    .options = supervise_options,
    .notes =
        "Call it once in the batch script, without srun. It starts `srun $TRAINRT_SRUN_ARGS trainrt` with the same "
        "arguments. jobs/train.sbatch is a complete batch script.\nIf a rank dies, the job step is ended within seconds "
        "and started again in the same allocation, at most failure.max_failures times.\nIf the run stops (exit code 75), "
        "the job is requeued, at most failure.max_requeues times.\nIf a node fails in a job of sbatch --no-kill, the run "
        "continues on the other nodes with all ranks.\nA node that ends several attempts (failure.exclude_bad_nodes) or "
        "slows down the others (failure.exclude_slow) is excluded from later attempts.\nIf failure.max_no_progress "
        "attempts make no progress, the job ends.\n",
    .exit_codes = supervise_exit_codes,
    .run = supervise_command,
    .output_is_result = false,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
