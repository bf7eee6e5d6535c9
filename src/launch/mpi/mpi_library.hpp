#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

namespace trainrt::launch {

// trainrt does not link MPI: it loads an MPI library when it needs one. The same program therefore starts without MPI, and
// works with every MPI that has the binary interface (ABI) of MPICH, in which handles and constants are integers.

/// The functions of MPI that trainrt calls: FUNCTION(Init_thread) is MPI_Init_thread.
#define TRAINRT_MPI_FUNCTIONS(FUNCTION) \
  FUNCTION(Abort)                       \
  FUNCTION(Comm_dup)                    \
  FUNCTION(Comm_free)                   \
  FUNCTION(Comm_rank)                   \
  FUNCTION(Comm_set_errhandler)         \
  FUNCTION(Comm_size)                   \
  FUNCTION(Comm_split)                  \
  FUNCTION(Error_string)                \
  FUNCTION(Finalize)                    \
  FUNCTION(Finalized)                   \
  FUNCTION(Get_library_version)         \
  FUNCTION(Get_version)                 \
  FUNCTION(Iallreduce)                  \
  FUNCTION(Ibarrier)                    \
  FUNCTION(Ibcast)                      \
  FUNCTION(Init_thread)                 \
  FUNCTION(Initialized)                 \
  FUNCTION(Iprobe)                      \
  FUNCTION(Irecv)                       \
  FUNCTION(Isend)                       \
  FUNCTION(Recv)                        \
  FUNCTION(Testall)

/// The functions of a loaded MPI library.
struct MpiFunctions {
#define TRAINRT_DECLARE(name) decltype(&::MPI_##name) name = nullptr;
  TRAINRT_MPI_FUNCTIONS(TRAINRT_DECLARE)
#undef TRAINRT_DECLARE
};

/// An MPI library that trainrt can use.
struct MpiLibrary {
  MpiFunctions functions;
  std::string path;          ///< the file from which it was loaded
  std::string version_text;  ///< the text of MPI_Get_library_version(): version and build configuration
};

/// The result of a search for an MPI library.
struct MpiSearch {
  std::optional<MpiLibrary> library;
  std::string problem;  ///< if `library` is empty: the reason
  std::string advice;   ///< if `library` is empty: which libraries can be used, and what works without MPI
};

/// Searches for an MPI library in this order:
/// - a library that the process has already loaded, so that a process never has two MPI libraries
/// - `chosen`, a file name or a path; no other file is tried if `chosen` is not empty
/// - libmpi.so.12, then libmpich.so.12, as dlopen(3) finds them
/// - the same names in the folder of the MPI with which trainrt was built
///
/// The first library that is found is used. It is rejected if it has another ABI than MPICH, implements an MPI standard
/// before 3.1, or lacks a function.
MpiSearch search_mpi(const std::string& chosen);
/// Checks the library in `file`, which is loaded if necessary, as search_mpi() does.
MpiSearch check_mpi_library(const std::string& file);

/// Returns whether the process has already loaded an MPI library that trainrt can use. Does not load one. Thread-safe.
bool process_has_mpi();

/// Returns the result of search_mpi() with the value of the environment variable TRAINRT_MPI_LIBRARY. The first call
/// searches; later calls return the same result. Thread-safe.
const MpiSearch& found_mpi();

/// Returns the functions of the MPI library, which the first call loads. Throws UsageError, with advice, if no MPI library
/// can be used. Thread-safe.
const MpiFunctions& mpi();

}  // namespace trainrt::launch
