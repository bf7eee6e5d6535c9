#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "core/environment.hpp"
#include "launch/launcher.hpp"

namespace trainrt::trainer {

/// A command that all ranks of a job step execute together. execute_on_ranks() calls the functions of this class in the
/// order of their declarations.
class RankCommand {
 public:
  virtual ~RankCommand() = default;

  /// Returns the config of the command. If this function throws Error on any rank, the command fails on all ranks.
  virtual config::RunSpec load_config() = 0;
  /// Replaces values that may differ between ranks by the values of rank 0. Collective. Must not use the config, since
  /// load_config() may have failed on some ranks.
  virtual void share_values(Communicator& /*communicator*/) {}
  /// Checks the config and the number of ranks, and loads the train function. Must not create directories. If this function
  /// throws Error on any rank, the command fails on all ranks.
  virtual void prepare(config::RunSpec& spec, const World& world) = 0;
  /// Returns a phrase that describes the command, such as "train function linear". log_ranks() logs it as `activity`.
  virtual std::string description(const config::RunSpec& spec) const = 0;
  /// Executes the command and returns the exit code of this rank. Collective. May throw AgreedError on all ranks; any other
  /// exception ends the job step.
  virtual ExitCode execute(const config::RunSpec& spec, launch::Launch& launch, Communicator& communicator) = 0;
  /// Removes unfinished output of the command. Called only after a failure.
  virtual void discard_output() {}
};

/// Executes `command` on this rank. Connects to the launcher and to the other ranks, compares the config between ranks,
/// assigns GPUs, installs the handlers of stop signals and crashes, and calls RankCommand::execute(). Logs errors. Returns
/// the exit code of the process. Must be called at most once in a process.
ExitCode execute_on_ranks(RankCommand& command, const Environment& environment);

}  // namespace trainrt::trainer
