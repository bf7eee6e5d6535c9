#pragma once
#include <functional>

#include <trainrt/communicator.hpp>

#include "program/protocol/run_request.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// The result of await_run(): the run that the programs of all ranks need.
struct AwaitedRun {
  enum class Kind {
    requested,  ///< the programs of all ranks request the run `request`
    of_config,  ///< the programs get the run of the config: they made a call other than fit(), printed more than 1 MiB,
                ///< sent no message for too long, or exited
    failed,     ///< a program failed before all programs had requested a run; the run of the config records it
    ended,      ///< the programs of all ranks exited with success after a run that they had requested
    stopped,    ///< a rank was asked to stop
  };
  Kind kind = Kind::of_config;
  RunRequest request;  ///< request of rank 0's program
};

struct AwaitRunOptions {
  bool is_between_runs = false;  ///< the programs have requested and closed a run before
  double max_silent_s = 60;      ///< maximum wait for a Python program that may use the client, but has not imported it
  double contact_timeout_s = 0;  ///< maximum time that a requesting program waits for the other ranks
  std::function<bool()> is_stop_asked{};  ///< returns whether this rank was asked to stop; may be empty
};

/// Waits, while no run is open, until the programs of all ranks show which run they need.
///
/// Before the first run, it waits at most ten minutes for programs that have imported the client, `max_silent_s` for other
/// Python programs that may use it (may_use_client()), and one second for all other programs. Between two runs, it waits as
/// long as the programs print or compute.
///
/// Throws on all ranks: Error if a program fails or hangs between runs, or does not send its message within
/// `contact_timeout_s` after another rank's program; UsageError if the programs need different runs. Collective.
AwaitedRun await_run(RunningProgram& program, Communicator& communicator, const AwaitRunOptions& options);

}  // namespace trainrt::program
