#pragma once
#include <string>
#include <vector>

#include "cli/doctor/doctor_ranks.hpp"
#include "cli/doctor/python_command.hpp"

namespace trainrt::cli {

/// Starts a Python interpreter and returns a report as an object with these members:
/// - `interpreter` and `script`
/// - `version`: version of Python
/// - `frameworks`: versions of the installed frameworks by package name
/// - `missing`: modules that the script imports at its top and that are not installed
/// - `mistake`: the reason why the script cannot be parsed, or ""
///
/// Neither the script nor a framework is imported. Throws Error if the interpreter fails, takes longer than 20 s, or
/// prints something else.
doctor::Json report_of_python(const PythonCommand& command);

/// Parses the output of the interpreter. Its last line is the report in JSON. Throws Error if this line is not a
/// report. Pure function.
doctor::Json parse_python_report(const std::string& output);

/// Returns the differences between a node's Python and the first node's Python: "torch 2.1.0 instead of 2.2.0". Pure
/// function.
std::vector<std::string> python_differences(const doctor::Json& first, const doctor::Json& other);

}  // namespace trainrt::cli
