#pragma once
#include "core/library_version.hpp"

namespace trainrt::comm {

/// Needs no MPI_Init.
LibraryVersion mpi_version();

}  // namespace trainrt::comm
