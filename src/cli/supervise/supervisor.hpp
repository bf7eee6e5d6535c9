#pragma once
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "batch/restart_decision.hpp"
#include "batch/signal_queue.hpp"
#include "batch/slurm_job.hpp"
#include "batch/step.hpp"
#include "cli/supervise/copies_file.hpp"
#include "cli/supervise/node_exclusions.hpp"
#include "cli/supervise/supervised_run.hpp"
#include "config/run_spec.hpp"
#include "core/process/program_input.hpp"

namespace trainrt::cli {

/// Keeps one run running inside a Slurm allocation (`trainrt supervise`). It starts the ranks with srun. After each
/// attempt it performs the action that batch::decide() returns: restart, requeue the job, or give up. It prints each
/// decision on standard error.
class Supervisor {
 public:
  /// srun starts the program `program` with the arguments `words`.
  Supervisor(config::RunSpec spec, batch::SlurmJob job, std::string program, std::vector<std::string> words);

  /// Runs until the run has finished, or until this allocation cannot continue it. Returns the exit code for the batch
  /// script.
  ExitCode run();

 private:
  batch::RestartDecision decide_first_step();
  batch::StepEnd run_step(const batch::RestartDecision& shape);
  batch::RestartDecision decide_after(const batch::StepEnd& end, bool needed_all_nodes);
  batch::RestartDecision decide_after_signal(int signal) const;
  ExitCode carry_out(const batch::RestartDecision& decision);

  void set_exclusion_variable() const;
  std::vector<std::string> command(const batch::RestartDecision& shape) const;
  batch::JobEnding ending_after(const batch::StepEnd& end, const std::optional<batch::JobFacts>& facts) const;
  std::optional<rundir::AttemptRecord> begun_attempt() const;
  void inspect_nodes(batch::Situation& situation, const batch::StepEnd& end, const std::optional<batch::JobFacts>& facts);
  void count_failures(batch::Situation& situation);
  batch::RestartLimits limits() const;

  SupervisedRun run_;
  batch::SlurmJob job_;
  std::string program_;
  std::vector<std::string> words_;
  batch::SignalQueue signals_;
  ProgramInput input_;
  NodeExclusions exclusions_{job_};
  CopiesFile copies_;
  bool slurm_requeues_ = false;  ///< whether Slurm requeues the job without a request by this process
  int failures_ = 0;             ///< in this allocation
  std::size_t lost_nodes_ = 0;   ///< after the last attempt
};

}  // namespace trainrt::cli
