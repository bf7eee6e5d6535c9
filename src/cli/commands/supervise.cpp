// In a batch script: keeps a run going inside its allocation, and brings it back into the next.
#include <filesystem>

#include "batch/slurm_job.hpp"
#include "cli/start/prepare_srun.hpp"
#include "cli/start/script_input.hpp"
#include "cli/supervise/job_shell.hpp"
#include "cli/supervise/supervisor.hpp"
#include "cli/words/command.hpp"
#include "cli/words/load_spec.hpp"
#include "core/environment.hpp"
#include "launch/expected_size.hpp"
#include "trainer/records/own_run.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view supervise_usage =
    "supervise [--config FILE] [--trust-owner=USER] [--section.key=value ...] [-- COMMAND ARGS]";

batch::SlurmJob this_job(const Environment& environment) {
  if (launch::is_in_step(environment))
    throw UsageError(
        "trainrt supervise starts srun itself: call it once, in the batch script, without srun in front "
        "(jobs/train.sbatch)");
  auto job = batch::SlurmJob::of(environment);
  if (!job)
    throw UsageError(
        "trainrt supervise works inside a Slurm allocation, and SLURM_JOB_ID is not set: submit it with sbatch "
        "jobs/train.sbatch CONFIG, or call it under salloc. Without Slurm: mpiexec -n N trainrt --config FILE");
  return *job;
}

ExitCode supervise_command(std::span<const std::string> words) {
  leave_shell_step();
  const auto environment = Environment::of_process();
  auto spec = load_spec(words, std::string(supervise_usage));
  auto job = this_job(environment);
  trainer::require_own_run(spec);
  take_script_from_input(spec);
  prepare_srun(environment);
  const auto program = std::filesystem::read_symlink("/proc/self/exe").string();
  return Supervisor(std::move(spec), std::move(job), program, {words.begin(), words.end()}).run();
}

}  // namespace

extern const Command supervise;
const Command supervise{
    .name = "supervise",
    .usage = supervise_usage,
    .help = "in a batch script: starts the run with srun, and restarts or requeues it after a failure",
    .details =
        "Starts `srun $TRAINRT_SRUN_ARGS trainrt` with the same words and watches over it. A rank that dies ends the step "
        "within seconds, and\nthe step is started again in the same allocation, up to failure.max_failures times. A stop "
        "(exit 75) requeues the job, up to\nfailure.max_requeues times. With scaling.min_workers = N, and sbatch "
        "--no-kill, "
        "a lost node is done without. A node that ends attempt\nafter attempt (failure.exclude_bad_nodes), or holds the "
        "others up (failure.exclude_slow), is left out of the next ones. Attempts that get\nno further end the job "
        "(failure.max_no_progress).\n"
        "Exit codes: 0 finished; 64 bad usage or config; 70 given up after failures; 75 stopped, and the job could be "
        "requeued;\n76 no progress; 143 Slurm ends the job by itself.\n",
    .run = supervise_command,
    .output_is_result = false,
    .writes_run = true};

}  // namespace trainrt::cli::plugins
