#pragma once
#include <string>

#include "core/library_version.hpp"

namespace trainrt::launch {

/// The MPI or PMIx library of this process. These libraries are loaded on demand.
struct FoundLibrary {
  LibraryVersion version;  ///< `loaded` is empty if no library can be used
  std::string path;        ///< the file from which the library was loaded
  std::string problem;     ///< if no library can be used: the reason
};

// These functions load the library if necessary. They may be called before MPI_Init and PMIx_Init.

FoundLibrary mpi_version();
FoundLibrary pmix_version();

/// Returns the text of MPI_Get_library_version(): version and build configuration of the MPI library. Throws UsageError if
/// no MPI library can be used.
std::string mpi_library_text();

}  // namespace trainrt::launch
