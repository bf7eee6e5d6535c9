#pragma once
#include <string>

namespace trainrt::launch {

/// What the loaded MPI calls itself, with how it was configured. Needs no MPI_Init.
std::string mpi_library_version();

}  // namespace trainrt::launch
