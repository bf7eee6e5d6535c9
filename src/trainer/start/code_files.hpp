#pragma once
#include <map>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Returns the digests of the user's code files that the config names, by path as written in the config. These files are
/// the scripts or the executable in train.program, and train.library. Omits files that cannot be read or are larger than 64
/// MiB.
std::map<std::string, std::string> code_files(const config::RunSpec& spec);

}  // namespace trainrt::trainer
