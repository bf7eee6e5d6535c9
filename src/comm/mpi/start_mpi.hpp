#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/mpi/mpi_communicator.hpp"

namespace trainrt::comm {

/// Initializes MPI and returns a communicator over all ranks. The communicator's destructor finalizes MPI, except if that
/// could hang. Throws UsageError if MPI's rank or number of ranks differs from the launch, and BackendsDiffer if the ranks
/// pass different names in `backend`. Collective.
std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend);

/// Removes the environment variables that prepare_mpi() set for MPI_Init. A child process that inherited them could join
/// MPI as this rank.
void undo_mpi_preparation();

/// Returns a communicator over all ranks, for a program that has initialized MPI itself and will finalize MPI. Throws
/// UsageError if MPI is not initialized or already finalized, or if the launch requested more ranks than MPI has.
/// Collective.
std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds);

}  // namespace trainrt::comm
