// trainrt supervise: runs srun in a batch script, restarts the run after failures, and requeues the job.
#include <filesystem>

#include "batch/slurm_job.hpp"
#include "cli/command_line/command.hpp"
#include "cli/config/load_run_spec.hpp"
#include "cli/start/script_input.hpp"
#include "cli/start/slurm_environment.hpp"
#include "cli/supervise/supervisor.hpp"
#include "core/environment.hpp"
#include "launch/expected_size.hpp"
#include "trainer/records/own_run.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view supervise_usage =
    "supervise [--config FILE] [--trust-owner=USER] [--section.key=value ...] [-- COMMAND ARGS]";

batch::SlurmJob require_job(const Environment& environment) {
  if (launch::is_in_step(environment))
    throw UsageError("trainrt supervise starts srun itself: call it once in the batch script, without srun");
  auto job = batch::SlurmJob::of(environment);
  if (!job)
    throw UsageError(
        "trainrt supervise works inside a Slurm allocation, and SLURM_JOB_ID is not set: call it in a "
        "batch script (sbatch) or under salloc. Without Slurm, `trainrt -n N --config FILE` starts N ranks on this "
        "machine");
  return *job;
}

ExitCode supervise_command(std::span<const std::string> words) {
  leave_shell_step();
  const auto environment = Environment::of_process();
  auto spec = load_run_spec(words, std::string(supervise_usage));
  auto job = require_job(environment);
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
    .usage = supervise_usage,
    .help = "run srun in a batch script, and restart or requeue the run after a failure",
    .details =
        "Starts `srun $TRAINRT_SRUN_ARGS trainrt` with the same arguments, once in a batch script.\n"
        "- If a rank dies, the job step is ended within seconds and started again in the same allocation, up to\n"
        "  failure.max_failures times.\n"
        "- If the run stops (exit code 75), the job is requeued, up to failure.max_requeues times.\n"
        "- If a node fails, the run continues without it, given scaling.min_workers = N and sbatch --no-kill.\n"
        "- A node that ends several attempts (failure.exclude_bad_nodes) or slows down the others (failure.exclude_slow) "
        "is\n"
        "  excluded from later attempts.\n"
        "- If repeated attempts make no progress (failure.max_no_progress), the job ends.\n"
        "Exit codes: 0 finished; 64 bad usage or config; 70 given up after failures; 75 stopped, and the job may be\n"
        "requeued; 76 no progress; 143 Slurm ends the job.\n",
    .run = supervise_command,
    .output_is_result = false,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
