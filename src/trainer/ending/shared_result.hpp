#pragma once
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/result.hpp>

namespace trainrt::trainer {

/// What rank 0 reads in the run directory, on all ranks: another node may see its files late. `code`: how the run ended
/// here. AgreedError if it cannot be read. Collective.
Result shared_result(const std::string& run_dir, ExitCode code, Communicator& communicator);

/// A result as bytes, and back.
std::string packed(const Result& result);
Result unpacked_result(std::string_view bytes);

}  // namespace trainrt::trainer
