#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <trainrt/callback.hpp>
#include <trainrt/communicator.hpp>
#include <trainrt/context.hpp>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "launch/launcher.hpp"
#include "trainer/saving/attempt_info.hpp"
#include "watch/hang_report.hpp"

namespace trainrt::trainer {

struct RunOutcome {
  ExitCode code = ExitCode::finished;
  std::string message;  ///< how the run ended and the next action for the user; the caller logs it
};

/// The train function of a run, and its properties.
struct TrainCall {
  std::string name;  ///< name recorded in run.json; only a train function of the same name may resume the run
  std::function<void(Context&)> train;
  bool may_be_silent = false;             ///< the function runs a program that may not use trainrt's API
  bool is_observed = false;               ///< the function calls Context::observe() with the output of a program
  bool prints_here = false;               ///< the function prints to this process's output, which the run captures
  std::function<bool()> is_running = {};  ///< returns whether the program was started before the run was opened
  /// Returns whether a program that `train` started uses trainrt's client; may be empty.
  std::function<bool()> is_connected = {};
  std::function<double()> ready_s = {};  ///< Meter's `program_ready_s`; empty if the function runs no program
  bool has_caller = false;               ///< with one rank, an exception of `train` is thrown to the caller of run()
  std::vector<std::shared_ptr<Callback>> callbacks =
      {};                        ///< added to the config's callbacks; only those of rank 0 are notified
  std::string metadata = "{}";   ///< AttemptInfo::metadata
  MeetFramework framework = {};  ///< AttemptInfo::framework
  /// Returns the program that this rank has started. May be called on any thread. Empty if `train` does not run a program.
  std::function<watch::StartedProgram()> program = {};
  std::function<void(Context&)> check = {};  ///< TrainFunction::check; empty if the function has no check
};

/// Executes a run until the run finishes, stops or fails: opens the run directory, restores the last checkpoint, calls the
/// train function and records the end. If all ranks fail together, starts another attempt, as class Restarts decides.
///
/// Collective. Throws AgreedError if the run cannot start or fails on all ranks. If the train function fails on some ranks
/// only, Launch::abort() ends the job step.
RunOutcome run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch, Communicator& communicator);

/// Executes one attempt like run(). Throws FailedTogether if all ranks fail together. Collective.
RunOutcome run_once(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch,
                    Communicator& communicator);

/// Throws UsageError if the sinks, callbacks or [data.NAME] sections of a config are invalid. Opens no files of datasets.
void check_spec(const config::RunSpec& spec);

}  // namespace trainrt::trainer
