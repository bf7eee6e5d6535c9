#pragma once
#include <string>
#include <vector>

namespace trainrt::program {

/// Returns the script that a command passes to an interpreter (python3, bash, sh, ...): "train.py" for "python3 -u
/// train.py". Returns "" for other programs, for python3 -c and -m, and if the command has unknown options.
std::string script_of(const std::vector<std::string>& command);

/// Returns whether an interpreter in the command reads its script from standard input. Examples: `python3 -`, `bash -s
/// WORD`, `python3` without arguments, `env NAME=VALUE python3 -`.
bool reads_script_from_input(const std::vector<std::string>& command);

/// Throws UsageError if the script that the command passes to an interpreter does not exist or cannot be read.
void require_script(const std::vector<std::string>& command);

}  // namespace trainrt::program
