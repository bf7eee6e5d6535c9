#include "launch/pmix_version.hpp"

#include <fmt/format.h>
#include <pmix.h>

namespace trainrt::launch {

LibraryVersion pmix_version() {
  // "OpenPMIx 4.2.2rc2 (PMIx Standard: 4.2, Stable ABI: 0.0, ...)", "OpenPMIx 4.1.2, repo rev: ...": the headers tell only
  // the three numbers.
  const std::string loaded = PMIx_Get_version();
  return {fmt::format("OpenPMIx {}.{}.{}", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE),
          loaded.substr(0, loaded.find_first_not_of("0123456789.", loaded.find(' ') + 1))};
}

}  // namespace trainrt::launch
