#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Replaces this process by the program of train.program, if program.has_trainer is set. `rank` is the rank of this
/// process. The program joins the other ranks in place of this process, and reads the config from its environment
/// (config/launch_settings.hpp). Only rank 0 keeps its standard input, unless all ranks read their script from it.
/// Throws UsageError if the program cannot be started.
[[noreturn]] void exec_program(const config::RunSpec& spec, int rank);

}  // namespace trainrt::cli
