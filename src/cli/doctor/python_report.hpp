#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/doctor/doctor_ranks.hpp"

namespace trainrt::cli::doctor {

/// A command that runs a Python interpreter.
struct PythonCommand {
  std::string interpreter;  ///< path of the interpreter
  std::string script;       ///< path of the script; "" if the command runs no file (-c, -m)
};

/// Returns the interpreter and the script of a command such as `python3 train.py`, or of a script whose first line (#!)
/// names Python, such as `./train.py` or `torchrun`. Returns nullopt for another program, or if it is not found on this
/// node.
std::optional<PythonCommand> python_command_of(const std::vector<std::string>& command);

/// Starts a Python interpreter and returns a report as an object with these members:
/// - `interpreter` and `script`
/// - `version`: version of Python
/// - `frameworks`: versions of the installed frameworks by package name
/// - `missing`: modules that the script imports at its top and that are not installed
/// - `mistake`: the reason why the script cannot be parsed, or ""
///
/// Neither the script nor a framework is imported. Throws Error if the interpreter fails, takes longer than 20 s, or
/// prints something else.
Json report_of_python(const PythonCommand& command);

/// Parses the output of the interpreter. Its last line is the report in JSON. Throws Error if this line is not a
/// report. Pure function.
Json parse_python_report(const std::string& output);

/// Returns the differences between a node's Python and the first node's Python: "torch 2.1.0 instead of 2.2.0". Pure
/// function.
std::vector<std::string> python_differences(const Json& first, const Json& other);

}  // namespace trainrt::cli::doctor
