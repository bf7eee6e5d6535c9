#pragma once
#include <string>
#include <vector>

namespace trainrt::program {

/// The file that an interpreter (python3, bash, sh, ...) is told to run by a command: "train.py" of "python3 -u train.py".
/// "" if the command is another program, runs no file (python3 -c, -m), or has options that are not known here.
std::string script_of(const std::vector<std::string>& command);

/// True if an interpreter in the command reads its script from standard input: `python3 -`, `bash -s WORD`, `python3`
/// alone, `env NAME=VALUE python3 -`.
bool reads_script_from_input(const std::vector<std::string>& command);

/// Throws UsageError if a command's script is not there or may not be read.
void require_script(const std::vector<std::string>& command);

}  // namespace trainrt::program
