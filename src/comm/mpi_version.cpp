#include "comm/mpi_version.hpp"

#include <array>
#include <sstream>

#include "comm/mpi_call.hpp"

namespace trainrt::comm {

namespace {

std::string compiled_version() {
#if defined(MPICH_VERSION)
  return std::string("MPICH ") + MPICH_VERSION;
#elif defined(OMPI_MAJOR_VERSION)
  return fmt::format("Open MPI {}.{}.{}", OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
#else
  return fmt::format("an MPI of standard {}.{}", MPI_VERSION, MPI_SUBVERSION);
#endif
}

/// "MPICH Version:   4.0.2\nMPICH Release date: ..." and "Open MPI v4.1.4, package: ..." tell more than a name and a
/// number.
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

LibraryVersion mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check_mpi(MPI_Get_library_version(text.data(), &length));  // allowed before MPI_Init (MPI 3.1, section 8.1.1)
  return {compiled_version(), short_form({text.data(), static_cast<std::size_t>(length)})};
}

}  // namespace trainrt::comm
