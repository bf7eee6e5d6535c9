#include "cli/supervise/job_shell.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "batch/slurm_job.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "launch/expected_size.hpp"
#include "launch/shell_step.hpp"

namespace trainrt::cli {

namespace {

/// The number of tasks of the job. In a shell's step SLURM_NTASKS may be the step's; Slurm knows the job's.
int tasks_of_job(const Environment& environment) {
  const int known = environment.number("SLURM_NTASKS").value_or(1);
  if (!launch::is_shell_step(environment)) return known;
  const auto job = batch::SlurmJob::of(environment);
  const auto facts = job ? job->show() : std::nullopt;
  return facts ? std::max(known, facts->tasks) : known;
}

void set(const char* name, int value) { setenv(name, std::to_string(value).c_str(), 1); }

}  // namespace

void leave_shell_step() {
  const auto environment = Environment::of_process();
  if (!launch::is_shell_step(environment)) return;
  const int tasks = tasks_of_job(environment);
  if (tasks != environment.number("SLURM_NTASKS")) unsetenv("SLURM_TASKS_PER_NODE");  // the step's
  set("SLURM_NTASKS", tasks);
  set("SLURM_NPROCS", tasks);
  if (const auto nodes = environment.number("SLURM_JOB_NUM_NODES")) set("SLURM_NNODES", *nodes);
  if (environment.text("SLURM_MPI_TYPE") == "none") unsetenv("SLURM_MPI_TYPE");
  set("SLURM_OVERLAP", 1);
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
  log::warning(fmt::format("this start has {}, and job {} has {} tasks. To use all of them: {}", counted(ranks, "rank"),
                           *job, tasks, command));
}

}  // namespace trainrt::cli
