// The communication backend "mpi": all ranks communicate over MPI.
#include <fmt/format.h>

#include <trainrt/communicators.hpp>
#include <trainrt/error.hpp>

#include "comm/backend.hpp"
#include "comm/backend_agreement.hpp"
#include "comm/mpi/mpi_communicator.hpp"
#include "comm/mpi/start_mpi.hpp"

namespace trainrt {

namespace comm::plugins {

extern const Backend mpi;
const Backend mpi{
    .name = "mpi",
    .help = "MPI between all ranks",
    .preference = 10,
    .why_unavailable = [](const launch::Launch& launch) -> std::string {
      return launch.world().size > 1 ? "" : "it requires more than one rank";
    },
    .open = [](launch::Launch& launch, const CommOptions& options) -> std::unique_ptr<Communicator> {
      agree_before_mpi(launch, mpi.name);
      return start_mpi(launch, options, mpi.name);
    },
    .details = [](const World& world) -> std::string { return world.node_count == world.size ? "one rank per node" : ""; }};

}  // namespace comm::plugins

std::unique_ptr<Communicator> mpi_communicator(double timeout_seconds) { return comm::join_mpi(timeout_seconds); }

}  // namespace trainrt
