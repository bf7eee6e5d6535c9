#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// If the program's interpreter reads its script from standard input (`python3 -`): reads the script into memory, so that
/// each start of the program can read it. Must be called before any thread starts. Throws UsageError if standard input has
/// no script: it is a terminal, /dev/null, or empty, or nothing arrives for failure.launch_timeout seconds.
void hold_script_from_input(const config::RunSpec& spec);

}  // namespace trainrt::cli
