#pragma once
#include <source_location>
#include <string>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "launch/mpi/mpi_library.hpp"

namespace trainrt::comm {

using launch::mpi;  // returns the functions of MPI: mpi().Isend(...) calls MPI_Isend

/// Throws Error if `code`, the return code of an MPI function, is a failure. The message contains the name of the calling
/// function and MPI's error text.
inline void check_mpi(int code, std::source_location where = std::source_location::current()) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  mpi().Error_string(code, text, &length);
  throw Error(
      fmt::format("MPI failed in {}: {}", where.function_name(), std::string(text, static_cast<std::size_t>(length))));
}

/// Returns the rank of this process in the communicator `comm`.
inline int mpi_rank(MPI_Comm comm) {
  int rank = 0;
  check_mpi(mpi().Comm_rank(comm, &rank));
  return rank;
}

/// Returns the number of ranks of the communicator `comm`.
inline int mpi_size(MPI_Comm comm) {
  int size = 0;
  check_mpi(mpi().Comm_size(comm, &size));
  return size;
}

/// Duplicates the communicator `parent`. Errors in the duplicate are returned as error codes instead of ending the process.
/// Collective.
inline MPI_Comm mpi_duplicate(MPI_Comm parent) {
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(mpi().Comm_dup(parent, &comm));
  check_mpi(mpi().Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return comm;
}

}  // namespace trainrt::comm
