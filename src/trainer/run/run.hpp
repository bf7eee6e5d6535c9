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
  std::string message;  ///< what happened and what to do next, for rank 0 to print
};

/// What an attempt calls, and the name that the run is recorded with.
struct TrainCall {
  std::string name;
  std::function<void(Context&)> train;
  bool may_be_silent = false;             ///< a program, which may train without a call of the Context
  bool is_observed = false;               ///< it calls Context::observe() for a silent program
  bool prints_here = false;               ///< this process is one rank, and its output that of the train function
  std::function<bool()> is_running = {};  ///< a program that was started before its run was opened
  std::function<double()> ready_s = {};   ///< Meter's program_ready_s, of a program
  bool has_caller = false;                ///< who takes an exception of the only rank: the process goes on
  std::vector<std::shared_ptr<Callback>> callbacks = {};  ///< besides those of the config; rank 0's count
  std::string metadata = "{}";                            ///< AttemptInfo::metadata
  MeetFramework framework = {};                           ///< AttemptInfo::framework
  std::function<watch::StartedProgram()> program = {};    ///< of this rank, if it is one; any thread
  /// TrainFunction::check, which check_start() calls; empty: the function has none.
  std::function<void(Context&)> check = {};
};

/// Runs an attempt of a run: opens the run directory, continues from the last checkpoint, calls the train function, and
/// leaves the records; and another after each that failed on all ranks together (restarts.hpp). Collective. AgreedError if
/// it cannot start or fails for good; a train function that fails on some rank ends the whole step from here
/// (Launch::abort).
RunOutcome run(const config::RunSpec& spec, const TrainCall& function, launch::Launch& launch, Communicator& communicator);

/// Before any directory is made: are the datasets of the config there and whole, and are its sinks? UsageError otherwise.
void check_spec(const config::RunSpec& spec);

}  // namespace trainrt::trainer
