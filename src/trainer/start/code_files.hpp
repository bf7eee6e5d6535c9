#pragma once
#include <map>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// Returns the digests of the files of the user's code that the config names, by path as it is written there: scripts
/// among the words of train.program, and train.library. Files that cannot be read, or are larger than 64 MiB, are left out.
std::map<std::string, std::string> code_files(const config::RunSpec& spec);

}  // namespace trainrt::trainer
