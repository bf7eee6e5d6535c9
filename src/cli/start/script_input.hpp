#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// If an interpreter reads the program's script from standard input (`python3 -`): reads it to its end, so that each start
/// of the program can read it. Call before any thread starts. Throws UsageError if there is no script: a terminal,
/// /dev/null, an empty file or pipe, or a pipe that nobody writes to for failure.launch_timeout seconds.
void take_script_from_input(const config::RunSpec& spec);

}  // namespace trainrt::cli
