#pragma once
#include <functional>
#include <string>
#include <vector>

#include "launch/launcher.hpp"
#include "trainer/run/run.hpp"
#include "trainer/run/running_attempt.hpp"
#include "trainer/session/session.hpp"
#include "trainer/watching/status_writer.hpp"
#include "watch/crash_report.hpp"
#include "watch/hang_watch.hpp"

namespace trainrt::trainer {

// Functions that return the settings of the objects that watch an attempt: CrashScope, HangWatch and StatusWriter.

/// Returns the function that ends the job step after a crash of this rank. Returns an empty function if the launcher ends
/// the step itself, as mpiexec does. Slurm's PMIx does not end the step if a rank dies of a signal that writes a core file.
std::function<void(int)> end_of_step_after_crash(launch::Launch& launch);

watch::CrashFiles crash_files(const RunningAttempt& attempt, int rank);

/// Returns a HangWatch that watches the calling thread, which must be the train thread. All arguments passed by reference
/// must outlive the HangWatch. `hosts` has the host name of each rank.
watch::HangWatch watch_for_hangs(const RunningAttempt& attempt, const TrainCall& function, const Session& session,
                                 launch::Launch& launch, std::vector<std::string> hosts);

/// Returns the target for the StatusWriter of this rank. `nodes` is the result of node_names(). `started_s` is the start of
/// the attempt, by monotonic_seconds().
StatusWriter::Target status_target(const RunningAttempt& attempt, const World& world, const std::vector<std::string>& nodes,
                                   double started_s);

}  // namespace trainrt::trainer
