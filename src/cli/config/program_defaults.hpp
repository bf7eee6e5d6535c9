#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"
#include "core/options.hpp"

namespace trainrt::cli {

/// Sets run.name and run.storage_path for the program `command` if they are not given, so that a program needs no config.
/// - run.name is the value of config::run_name_variable, or else default_run_name().
/// - run.storage_path is the folder `runs` where the Slurm job was submitted, or in the current directory.
///
/// Returns whether this function has set run.name.
bool add_program_defaults(Options& options, const std::vector<std::string>& command, const Environment& environment);

/// Generates the name of a run (config/run_name.hpp) from the name of the script or program: "train-12-1f2e3d4c". `options`
/// are the values of the config file and the command line.
std::string default_run_name(const Options& options, const std::vector<std::string>& command,
                             const Environment& environment);

}  // namespace trainrt::cli
