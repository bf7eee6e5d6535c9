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
  std::string message;  ///< how the run ended, and what to do next; logged by the caller
};

/// The train function of a run, and how the run treats it.
struct TrainCall {
  std::string name;  ///< name that run.json records; only a train function of the same name may resume the run
  std::function<void(Context&)> train;
  bool may_be_silent = false;             ///< the function runs a program, which may not use the API
  bool is_observed = false;               ///< the function calls Context::observe() for such a program
  bool prints_here = false;               ///< the function prints on this process's output, which the run captures
  std::function<bool()> is_running = {};  ///< returns whether a program was started before its run was opened
  std::function<double()> ready_s = {};   ///< Meter's `program_ready_s`; empty if the function runs no program
  bool has_caller = false;                ///< an exception of the only rank is thrown to the caller of run()
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< in addition to the config's; only rank 0's are notified
  std::string metadata = "{}";                            ///< AttemptInfo::metadata
  MeetFramework framework = {};                           ///< AttemptInfo::framework
  /// Returns the program that this rank has started. May be called on any thread. Empty if the function runs no program.
  std::function<watch::StartedProgram()> program = {};
  std::function<void(Context&)> check = {};  ///< TrainFunction::check; empty if the function has none
};

/// Runs a run until it finishes, stops or fails: opens the run directory, restores the last checkpoint, calls the train
/// function and records the end. Starts another attempt after a failure of all ranks together (class Restarts).
///
/// Collective. Throws AgreedError if the run cannot start or fails. If the train function fails on some rank only, the job
/// step is ended by Launch::abort().
RunOutcome run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch, Communicator& communicator);

/// Throws UsageError if the sinks, callbacks or [data.NAME] sections of a config are invalid. Opens no files of datasets.
void check_spec(const config::RunSpec& spec);

}  // namespace trainrt::trainer
