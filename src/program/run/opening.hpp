#pragma once
#include <functional>

#include <trainrt/communicator.hpp>

#include "program/protocol/run_request.hpp"
#include "program/run/running_program.hpp"

namespace trainrt::program {

/// What the programs of all ranks do while no run is open for them.
struct Opening {
  enum class Kind {
    asks,   ///< all ask for a run, `request`
    needs,  ///< they need the config's run: they speak, print much, have ended, or show nothing for long
    fell,   ///< one failed before all asked: the config's run records it, and a restart may ask for another
    ended,  ///< well, after a run that they had asked for
    stops,  ///< before they asked
  };
  Kind kind = Kind::needs;
  RunRequest request;  ///< rank 0's
};

struct OpeningRules {
  bool is_between_runs = false;           ///< they have asked for a run before, and it is closed
  double most_silent_s = 60;              ///< so long may a Python program say nothing that has not imported the client
  double contact_timeout_s = 0;           ///< how long one that asks waits for the others
  std::function<bool()> is_stop_asked{};  ///< of this rank
};

/// Waits until the programs of all ranks show which run is to be opened: for at most ten minutes if they have imported the
/// client, `most_silent_s` if they are Python's, and a second if not; between runs as long as they print or compute. Throws
/// Error, on all ranks, if one falls between runs, or lets others wait for too long; UsageError if they do not ask alike.
/// Collective.
Opening await_opening(RunningProgram& program, Communicator& communicator, const OpeningRules& rules);

}  // namespace trainrt::program
