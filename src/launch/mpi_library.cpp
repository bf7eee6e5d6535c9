#include "launch/mpi_library.hpp"

#include <array>

#include <mpi.h>

namespace trainrt::launch {

std::string mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // allowed before MPI_Init (MPI 3.1, section 8.1.1)
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace trainrt::launch
