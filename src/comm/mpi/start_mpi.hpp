#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/mpi/mpi_communicator.hpp"

namespace trainrt::comm {

/// Starts MPI and checks that it formed the world that the launcher announced, and that all ranks are to open the same
/// `backend` (UsageError, BackendsDiffer). MPI ends with the communicator.
std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend);

/// What prepare_mpi() put into the environment for MPI_Init, taken out again: no child is to take itself for this rank.
void end_preparation();

/// MPI that the program has started, and will end.
std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds);

}  // namespace trainrt::comm
