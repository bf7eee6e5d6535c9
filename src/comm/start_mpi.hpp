#pragma once
#include <memory>

#include "comm/backend.hpp"
#include "comm/mpi_communicator.hpp"

namespace trainrt::comm {

/// Starts MPI and checks that it formed the world that the launcher announced, and that all ranks are to open the same
/// `backend` (UsageError, BackendsDiffer). MPI ends with the communicator.
std::unique_ptr<MpiCommunicator> start_mpi(launch::Launch& launch, const CommOptions& options, std::string_view backend);

/// MPI that the program has started, and will end.
std::unique_ptr<MpiCommunicator> join_mpi(double timeout_seconds);

}  // namespace trainrt::comm
