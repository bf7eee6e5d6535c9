#include "cli/start/slurm_environment.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "batch/restart_decision.hpp"
#include "batch/slurm_job.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "launch/expected_size.hpp"
#include "launch/shell_step.hpp"

namespace trainrt::cli {

namespace {

/// Returns the number of tasks of the job. In a shell that is a Slurm step, SLURM_NTASKS may be the number of tasks of
/// this step, so Slurm is queried, too.
int tasks_of_job(const Environment& environment) {
  const int known = environment.number("SLURM_NTASKS").value_or(1);
  if (!launch::is_shell_step(environment)) return known;
  const auto job = batch::SlurmJob::of(environment);
  const auto facts = job ? job->show() : std::nullopt;
  return facts ? std::max(known, facts->tasks) : known;
}

void set_variable(const char* name, int value) { setenv(name, std::to_string(value).c_str(), 1); }

}  // namespace

void set_srun_variables(const Environment& environment) {
  setenv("SLURM_EXIT_ERROR", std::to_string(batch::exit_of_srun).c_str(), 1);
  setenv("SLURM_MPI_TYPE", "pmix", 0);
  // Since Slurm 22.05, srun does not take the number of CPUs per task from the job.
  if (const auto cpus = environment.text("SLURM_CPUS_PER_TASK")) setenv("SRUN_CPUS_PER_TASK", cpus->c_str(), 0);
}

void leave_shell_step() {
  const auto environment = Environment::of_process();
  if (!launch::is_shell_step(environment)) return;
  const int tasks = tasks_of_job(environment);
  if (tasks != environment.number("SLURM_NTASKS")) unsetenv("SLURM_TASKS_PER_NODE");  // describes the step
  set_variable("SLURM_NTASKS", tasks);
  set_variable("SLURM_NPROCS", tasks);
  if (const auto nodes = environment.number("SLURM_JOB_NUM_NODES")) set_variable("SLURM_NNODES", *nodes);
  if (environment.text("SLURM_MPI_TYPE") == "none") unsetenv("SLURM_MPI_TYPE");
  set_variable("SLURM_OVERLAP", 1);
  launch::leave_shell_step();
}

void warn_of_unused_tasks(int ranks, std::span<const std::string> words) {
  const auto environment = Environment::of_process();
  const auto job = environment.text("SLURM_JOB_ID");
  if (!job || launch::is_in_step(environment)) return;
  const int tasks = tasks_of_job(environment);
  if (ranks >= tasks) return;
  std::string command = "trainrt supervise";
  for (const auto& word : words) command += " " + shell_quoted(word);
  log::warning(fmt::format("this run uses {}, but job {} has {} tasks. To use all of them: {}", counted(ranks, "rank"),
                           *job, tasks, command));
}

}  // namespace trainrt::cli
