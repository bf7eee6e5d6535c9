#pragma once
#include <optional>
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "batch/restart_decision.hpp"
#include "batch/signal_queue.hpp"
#include "batch/slurm_job.hpp"
#include "batch/step.hpp"
#include "cli/supervise/node_exclusions.hpp"
#include "config/run_spec.hpp"
#include "core/process/program_input.hpp"
#include "rundir/records/attempt_record.hpp"

namespace trainrt::cli {

/// Keeps one run going inside a Slurm allocation: starts the step, and after each attempt does what batch::decide() says.
/// It writes into the attempts' records how they ended if they could not do it themselves, and says each decision on
/// standard error.
class Supervisor {
 public:
  /// `program` is started with `words` by srun.
  Supervisor(config::RunSpec spec, batch::SlurmJob job, std::string program, std::vector<std::string> words);

  /// Until the run is finished, or this allocation can do no more for it. Returns the exit code for the batch script.
  ExitCode run();

 private:
  batch::RestartDecision begin();
  batch::RestartDecision after(const batch::StepEnd& end, int last_number, bool needed_all);
  batch::RestartDecision asked_to_end(int signal);
  batch::RestartLimits limits() const;
  void tell_ranks() const;
  std::vector<std::string> command(const batch::RestartDecision& shape) const;
  std::vector<batch::Node> nodes_after(const batch::StepEnd& end, const std::optional<batch::JobFacts>& facts) const;
  std::string write_down(const batch::StepEnd& end, batch::JobEnding ending, int last_number) const;
  bool has_finished() const;
  int last_number() const;
  std::optional<rundir::AttemptRecord> attempt_since(int last_number) const;
  void close_what_was_killed_with_the_job() const;
  ExitCode carry_out(const batch::RestartDecision& verdict) const;
  void write_state(rundir::RunState state) const;

  config::RunSpec config_;
  config::RunSpec spec_;  ///< of the run that is watched over
  batch::SlurmJob job_;
  std::string program_;
  std::vector<std::string> words_;
  batch::SignalQueue signals_;
  ProgramInput input_;
  NodeExclusions exclusions_{job_};
  bool returns_ = false;  ///< Slurm requeues the job by itself
  int failures_ = 0;
  std::size_t lost_nodes_ = 0;
};

}  // namespace trainrt::cli
