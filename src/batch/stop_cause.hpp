#pragma once
#include <string>

namespace trainrt::batch {

/// The reason why a run stops, as a number. The ranks agree on it by an all-reduce, in which the highest number wins.
/// Numbers from 1 to 64 are signal numbers.
using StopCause = int;

constexpr StopCause no_stop = 0;
constexpr StopCause slow_node = 998;  ///< a node slows the other nodes down; the next attempt runs without this node
constexpr StopCause paused = 999;     ///< a callback has stopped the run; it continues when the user starts it again
/// The run stops because the time limit of the job is near; it continues in another job.
constexpr StopCause time_is_up = 1000;
/// A stop rule of the config, or the train function, has finished the run early.
constexpr StopCause ended_early = 1001;

/// Returns a noun phrase that follows "stopped by" in messages: "SIGUSR1", "the end of the job's time", "itself" (early
/// end).
std::string describe(StopCause cause);

}  // namespace trainrt::batch
