#pragma once
#include <string>

namespace trainrt::cli {

/// Returns the versions of the libraries that trainrt uses, one per line: MPI, PMIx, HDF5, CUDA, NCCL, Boost.
std::string component_versions();

}  // namespace trainrt::cli
