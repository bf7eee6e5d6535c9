#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "core/environment.hpp"
#include "launch/launcher.hpp"

namespace trainrt::trainer {

/// A command that all ranks of a job step execute together. execute_on_ranks() calls the functions in the order of their
/// declaration.
class RankCommand {
 public:
  virtual ~RankCommand() = default;

  /// Returns the config of the command. An Error on any rank fails the command on all ranks.
  virtual config::RunSpec load_config() = 0;
  /// Gives all ranks those values of rank 0 that may differ between ranks. Collective. Not called with a config: it may
  /// have failed to load on some ranks.
  virtual void share_values(Communicator& /*communicator*/) {}
  /// Checks the config and the number of ranks, and loads the train function. Must not create directories. An Error on any
  /// rank fails the command on all ranks.
  virtual void prepare(config::RunSpec& spec, const World& world) = 0;
  /// Returns a noun phrase for the log, see log_ranks().
  virtual std::string description(const config::RunSpec& spec) const = 0;
  /// Does the work and returns the exit code of this rank. Collective. May throw AgreedError on all ranks; another
  /// exception ends the job step.
  virtual ExitCode execute(const config::RunSpec& spec, launch::Launch& launch, Communicator& communicator) = 0;
  /// Removes unfinished output. Called only after a failure.
  virtual void discard_output() {}
};

/// Executes `command` on this rank: connects to the launcher and to the other ranks, lets the ranks agree on the config,
/// assigns GPUs, installs the handlers of stop signals and crashes, and calls RankCommand::execute(). Errors are logged.
/// Returns the exit code of the process. Called once in a process.
ExitCode execute_on_ranks(RankCommand& command, const Environment& environment);

}  // namespace trainrt::trainer
