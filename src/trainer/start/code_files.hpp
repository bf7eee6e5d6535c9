#pragma once
#include <map>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Returns the digests of the user's code files that the config names: the scripts in train.program, and train.library. The
/// keys are the paths as written in the config. Omits files that cannot be read or are larger than 64 MiB.
std::map<std::string, std::string> code_files(const config::RunSpec& spec);

}  // namespace trainrt::trainer
