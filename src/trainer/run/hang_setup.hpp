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

// Settings of the objects that watch an attempt: CrashScope, HangWatch and StatusWriter.

/// Returns the function that ends the job step after a crash of this rank; empty if the launcher ends the step itself.
/// mpiexec does; Slurm's PMIx lets the other ranks wait if a rank dies of a signal that writes a core file.
std::function<void(int)> end_of_step_after_crash(launch::Launch& launch);

watch::CrashFiles crash_files(const RunningAttempt& attempt, int rank);

/// Returns a HangWatch of the calling thread, which must be the train thread. All arguments passed by reference must
/// outlive it. `hosts`: host name of each rank.
watch::HangWatch watch_for_hangs(const RunningAttempt& attempt, const TrainCall& function, const Session& session,
                                 launch::Launch& launch, std::vector<std::string> hosts);

/// `nodes`: result of node_names(). `started_s`: start of the attempt, by monotonic_seconds().
StatusWriter::Target status_target(const RunningAttempt& attempt, const World& world, const std::vector<std::string>& nodes,
                                   double started_s);

}  // namespace trainrt::trainer
