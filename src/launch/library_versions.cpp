#include "launch/library_versions.hpp"

#include <array>
#include <sstream>

#include <fmt/format.h>
#include <mpi.h>
#include <pmix.h>

namespace trainrt::launch {

namespace {

std::string compiled_version() {
#if defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
  return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
  return fmt::format("an MPI of version {}.{} of the standard", MPI_VERSION, MPI_SUBVERSION);
#endif
}

/// Extracts name and version number from the text of MPI_Get_library_version():
/// - "MPICH 4.0.2" from "MPICH Version:   4.0.2\nMPICH Release date: ..."
/// - "Open MPI 4.1.4" from "Open MPI v4.1.4, package: ..."
std::string short_form(const std::string& text) {
  std::istringstream words(text.substr(0, text.find_first_of(",\n")));
  std::string result;
  for (std::string word; words >> word;) {
    if (word == "Version:") continue;
    const bool number = word.size() > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9';
    result += (result.empty() ? "" : " ") + word.substr(number ? 1 : 0);
  }
  return result;
}

}  // namespace

std::string mpi_library_text() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);  // may be called before MPI_Init (MPI 3.1, section 8.1.1)
  return {text.data(), static_cast<std::size_t>(length)};
}

LibraryVersion mpi_version() { return {compiled_version(), short_form(mpi_library_text())}; }

LibraryVersion pmix_version() {
  // The loaded PMIx library reports "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.2, Stable ABI: 0.0, ...)" or "OpenPMIx 4.1.2, repo
  // rev: ...". The PMIx headers define only the three numbers of the version.
  const std::string loaded = PMIx_Get_version();
  return {fmt::format("OpenPMIx {}.{}.{}", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE),
          loaded.substr(0, loaded.find_first_not_of("0123456789.", loaded.find(' ') + 1))};
}

}  // namespace trainrt::launch
