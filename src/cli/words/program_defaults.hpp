#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::cli {

/// What makes a config needless for a program: if run.name or run.storage_path is not given, they are set. The name is made
/// up (config/run_name.hpp) of the script's name, else of the program's. The folder is `runs` where the job was
/// submitted from, or in the current one. Returns whether the name was made here.
bool add_program_defaults(Options& options, const std::vector<std::string>& command, const Environment& environment);

/// "train-12-1f2e3d4c", of this job or this moment. `options`: what the config file and the command line give.
std::string name_of_run(const Options& options, const std::vector<std::string>& command, const Environment& environment);

}  // namespace trainrt::cli
