#include "launch/library_versions.hpp"

#include <sstream>

#include <fmt/format.h>

#include "launch/mpi/mpi_library.hpp"
#include "launch/pmi/pmix_library.hpp"

namespace trainrt::launch {

namespace {

std::string compiled_version() {
#if defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#else
  return fmt::format("an MPI library that implements MPI {}.{}", MPI_VERSION, MPI_SUBVERSION);
#endif
}

/// Extracts name and version number from the text of MPI_Get_library_version():
/// "MPICH 4.0.2" from "MPICH Version:   4.0.2\nMPICH Release date: ...".
std::string short_form(const std::string& text) {
  std::istringstream words(text.substr(0, text.find_first_of(",\n")));
  std::string result;
  for (std::string word; words >> word;)
    if (word != "Version:") result += (result.empty() ? "" : " ") + word;
  return result;
}

/// Extracts name and version from the text of PMIx_Get_version(): "OpenPMIx 4.2.2" from "OpenPMIx 4.2.2rc2 (PMIx Standard:
/// 4.2, Stable ABI: 0.0, ...)" or from "OpenPMIx 4.1.2, repo rev: ...".
std::string short_form_of_pmix(const std::string& text) {
  return text.substr(0, text.find_first_not_of("0123456789.", text.find(' ') + 1));
}

}  // namespace

std::string mpi_library_text() {
  mpi();  // throws if no library can be used
  return found_mpi().library->version_text;
}

FoundLibrary mpi_version() {
  const auto& found = found_mpi();
  if (!found.library) return {{compiled_version(), ""}, "", found.problem};
  return {{compiled_version(), short_form(found.library->version_text)}, found.library->path, ""};
}

FoundLibrary pmix_version() {
  // The PMIx headers define only the three numbers of the version.
  const auto compiled = fmt::format("OpenPMIx {}.{}.{}", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE);
  const auto& found = found_pmix();
  if (!found.library) return {{compiled, ""}, "", found.problem};
  return {{compiled, short_form_of_pmix(found.library->version_text)}, found.library->path, ""};
}

}  // namespace trainrt::launch
