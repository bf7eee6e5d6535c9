#pragma once
#include <optional>
#include <string>

#include <pmix.h>

namespace trainrt::launch {

// trainrt does not link PMIx: it loads libpmix.so.2 when `srun --mpi=pmix` has started the process.

/// The PMIx functions that trainrt calls, named without their prefix: FUNCTION(Init) means PMIx_Init. PMIx has them
/// since version 2.
#define TRAINRT_PMIX_FUNCTIONS(FUNCTION) \
  FUNCTION(Abort)                        \
  FUNCTION(Commit)                       \
  FUNCTION(Error_string)                 \
  FUNCTION(Fence_nb)                     \
  FUNCTION(Finalize)                     \
  FUNCTION(Get)                          \
  FUNCTION(Get_version)                  \
  FUNCTION(Init)                         \
  FUNCTION(Put)

/// The functions of a loaded PMIx library.
struct PmixFunctions {
#define TRAINRT_DECLARE(name) decltype(&::PMIx_##name) name = nullptr;
  TRAINRT_PMIX_FUNCTIONS(TRAINRT_DECLARE)
#undef TRAINRT_DECLARE
};

/// A PMIx library that trainrt can use.
struct PmixLibrary {
  PmixFunctions functions;
  std::string path;          ///< the file from which it was loaded
  std::string version_text;  ///< the text of PMIx_Get_version()
};

/// The result of a search for a PMIx library.
struct PmixSearch {
  std::optional<PmixLibrary> library;
  std::string problem;  ///< if `library` is empty: the reason
  std::string advice;   ///< if `library` is empty: the package to install, and the launches that need no PMIx
};

/// Searches for a PMIx library in this order; the first that is found is used:
/// - a library that the process has already loaded
/// - `chosen`, a file name or a path; no other file is tried if `chosen` is not empty
/// - libpmix.so.2, as dlopen(3) finds it
/// - libpmix.so.2 in the folder of the PMIx with which trainrt was built
PmixSearch search_pmix(const std::string& chosen);
/// Checks the library in `file`, which is loaded if necessary, as search_pmix() does.
PmixSearch check_pmix_library(const std::string& file);

/// Returns the result of search_pmix() with the value of the environment variable TRAINRT_PMIX_LIBRARY. The first call
/// searches; later calls return the same result. Thread-safe.
const PmixSearch& found_pmix();

/// Returns the functions of the PMIx library, which the first call loads. Throws UsageError, with advice, if no PMIx
/// library can be used. Thread-safe.
const PmixFunctions& pmix();

}  // namespace trainrt::launch
