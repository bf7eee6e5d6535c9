#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// Reads the program's script into memory if the interpreter reads the script from standard input (`python3 -`). Each
/// start of the program can then read the script again. Must be called before any thread starts. Throws UsageError if
/// standard input has no script: it is a terminal, /dev/null, or empty, or no bytes arrive for failure.launch_timeout
/// seconds.
void hold_script_from_input(const config::RunSpec& spec);

}  // namespace trainrt::cli
