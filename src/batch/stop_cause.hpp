#pragma once
#include <string>

namespace trainrt::batch {

/// Why a run stops, as a number that ranks vote on; the greatest wins. 0: it does not; up to 64: a signal's number.
using StopCause = int;

constexpr StopCause no_stop = 0;
constexpr StopCause slow_node = 998;     ///< a node holds the others up: the run continues without it
constexpr StopCause paused = 999;        ///< by a callback: whoever has started the run goes on with it later
constexpr StopCause time_is_up = 1000;   ///< the job's time comes to its end: the run continues in another job
constexpr StopCause ended_early = 1001;  ///< a stop rule, or the train function, says that it is done: the run has finished

/// "SIGUSR1", "the end of the job's time", "itself".
std::string describe(StopCause cause);

}  // namespace trainrt::batch
