#pragma once
#include <source_location>
#include <string>

#include <fmt/format.h>
#include <mpi.h>
#include <trainrt/error.hpp>

namespace trainrt::comm {

/// Checks the return code of an MPI function. Throws Error with the name of the calling function and MPI's message.
inline void check_mpi(int code, std::source_location where = std::source_location::current()) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(
      fmt::format("MPI failed in {}: {}", where.function_name(), std::string(text, static_cast<std::size_t>(length))));
}

}  // namespace trainrt::comm
