#pragma once
#include <string>

#include "core/library_version.hpp"

namespace trainrt::launch {

// The versions of the MPI and PMIx libraries, as compiled and as loaded. These functions may be called before MPI_Init and
// PMIx_Init.

LibraryVersion mpi_version();
LibraryVersion pmix_version();

/// Returns the text of MPI_Get_library_version(): version and build configuration of the loaded MPI library.
std::string mpi_library_text();

}  // namespace trainrt::launch
