#include "launch/pmix_version.hpp"

#include <fmt/format.h>
#include <pmix.h>

namespace trainrt::launch {

LibraryVersion pmix_version() {
  const std::string loaded = PMIx_Get_version();  // "OpenPMIx 4.2.2, repo rev: ..., release date: ..."
  return {fmt::format("OpenPMIx {}.{}.{}", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE),
          loaded.substr(0, loaded.find(','))};
}

}  // namespace trainrt::launch
