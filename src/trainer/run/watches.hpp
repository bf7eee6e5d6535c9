#pragma once
#include <functional>
#include <string>
#include <vector>

#include "launch/launcher.hpp"
#include "trainer/run/failure.hpp"
#include "trainer/run/run.hpp"
#include "trainer/session/session.hpp"
#include "trainer/watching/status_writer.hpp"
#include "watch/crash_report.hpp"
#include "watch/hang_watch.hpp"

namespace trainrt::trainer {

/// How a rank that crashes ends the step; nothing if its launcher does so. Slurm's PMIx lets the others wait when a rank
/// dies of a signal that makes a core; mpiexec ends them.
std::function<void(int)> end_of_step_after_crash(launch::Launch& launch);

/// Where a crash of this rank is written down.
watch::CrashFiles crash_files(const AttemptPlace& place, int rank);

/// The names of the nodes, in the order of their lowest ranks. Collective.
std::vector<std::string> node_names(const World& world, Communicator& communicator);

/// The host of each rank. `nodes`: their names, in the order of their lowest ranks.
std::vector<std::string> hosts_of_ranks(const World& world, const std::vector<std::string>& nodes);

/// Watches the calling thread, the train thread, until it is destroyed; all of these must live longer. `hosts`: of each
/// rank.
watch::HangWatch watch_for_hangs(const AttemptPlace& place, const TrainCall& function, const Session& session,
                                 launch::Launch& launch, std::vector<std::string> hosts);

/// Where this rank's signs go, of an attempt that began at `started_s` (monotonic_seconds()).
StatusWriter::Place place_of_signs(const AttemptPlace& place, const World& world, const std::vector<std::string>& nodes,
                                   double started_s);

}  // namespace trainrt::trainer
