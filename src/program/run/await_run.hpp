#pragma once
#include <functional>

#include <trainrt/communicator.hpp>

#include "program/protocol/run_request.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// The run that the programs of all ranks need, determined while no run is open.
struct AwaitedRun {
  enum class Kind {
    requested,  ///< all programs request the run `request`
    of_config,  ///< they need the run of the config: they use it, print much, have exited, or are silent for long
    failed,     ///< a program failed before all requested a run; the run of the config records the failure
    ended,      ///< all exited with success after a run that they had requested
    stopped,    ///< the run is to stop
  };
  Kind kind = Kind::of_config;
  RunRequest request;  ///< request of rank 0
};

struct AwaitRunOptions {
  bool is_between_runs = false;           ///< the programs have requested a run before, and it is closed
  double max_silent_s = 60;               ///< how long to wait for a Python program that has not imported the client
  double contact_timeout_s = 0;           ///< how long a program that requests a run waits for the other ranks
  std::function<bool()> is_stop_asked{};  ///< returns whether this rank was asked to stop; may be empty
};

/// Waits until the programs of all ranks show which run they need. Before the first run it waits for at most ten minutes if
/// the programs have imported the client, `max_silent_s` if they are Python programs, and one second otherwise; between
/// runs it waits while they print or compute. Throws on all ranks: Error if a program fails or hangs between runs, or makes
/// the others wait for too long; UsageError if the programs request different things. Collective.
AwaitedRun await_run(RunningProgram& program, Communicator& communicator, const AwaitRunOptions& options);

}  // namespace trainrt::program
