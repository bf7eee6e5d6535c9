#pragma once
#include <string>

#include "core/library_version.hpp"

namespace trainrt::launch {

// Which MPI and PMIx these are. None of it needs MPI_Init or PMIx_Init.

LibraryVersion mpi_version();
LibraryVersion pmix_version();

/// What the loaded MPI calls itself, with how it was configured.
std::string mpi_library_text();

}  // namespace trainrt::launch
