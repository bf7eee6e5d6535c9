#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/result.hpp>

namespace trainrt::trainer {

/// Returns the Result that rank 0 reads from the run directory, with the exit code `code`, on all ranks. Other nodes may
/// see the files later. Throws AgreedError if the directory cannot be read. Collective.
Result broadcast_result(const std::string& run_dir, ExitCode code, Communicator& communicator);

// Conversion of a Result to bytes and back.
std::string packed(const Result& result);
Result unpacked_result(std::string_view bytes);

}  // namespace trainrt::trainer
