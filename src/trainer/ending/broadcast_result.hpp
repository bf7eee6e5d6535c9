#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/result.hpp>

namespace trainrt::trainer {

/// Returns, on all ranks, the Result that rank 0 reads from the run directory, with exit code `code`. Other ranks do not
/// read the directory, since their nodes may see the files later. Throws AgreedError if the directory cannot be read.
/// Collective.
Result broadcast_result(const std::string& run_dir, ExitCode code, Communicator& communicator);

// packed() converts a Result to bytes, and unpacked_result() converts these bytes back.
std::string packed(const Result& result);
Result unpacked_result(std::string_view bytes);

}  // namespace trainrt::trainer
