#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/mpi/mpi_communicator.hpp"

namespace trainrt::comm {

/// Initializes MPI. Throws UsageError if the rank or the number of ranks differ from those of the launch, and
/// BackendsDiffer if the ranks pass different names of a `backend`. Collective. The communicator's destructor finalizes
/// MPI, except where that could hang.
std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend);

/// Removes the environment variables that prepare_mpi() set for MPI_Init. A child process could otherwise believe that it
/// is this rank.
void undo_mpi_preparation();

/// Returns a communicator over all ranks for a program that has initialized MPI itself and will finalize it. Throws
/// UsageError if MPI is not initialized or already finalized. Collective.
std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds);

}  // namespace trainrt::comm
