#pragma once
#include <string>

#include "core/library_version.hpp"

namespace trainrt::launch {

// The versions of the MPI and PMIx libraries. These functions may be called before MPI_Init and PMIx_Init.

LibraryVersion mpi_version();
LibraryVersion pmix_version();

/// Returns the result of MPI_Get_library_version(), which includes how the loaded MPI was configured.
std::string mpi_library_text();

}  // namespace trainrt::launch
