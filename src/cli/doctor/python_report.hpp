#pragma once
#include <string>
#include <vector>

#include "cli/doctor/doctor_ranks.hpp"
#include "cli/doctor/python_command.hpp"

namespace trainrt::cli {

/// Starts a Python interpreter and returns an object with its `version`, the versions of the installed `frameworks` by
/// package name, the modules at the top of the script that are `missing`, and the `mistake` because of which the script
/// cannot be parsed (""); also `interpreter` and `script`. Neither the script nor a framework is imported. Throws Error if
/// the interpreter fails, takes longer than 20 s, or prints something else.
doctor::Json report_of_python(const PythonCommand& command);

/// Parses the output of the interpreter, whose last line is the report in JSON. Throws Error if it is not. Pure function.
doctor::Json parse_python_report(const std::string& output);

/// Returns the differences of a node's Python from the first node's: "torch 2.1.0 instead of 2.2.0". Pure function.
std::vector<std::string> python_differences(const doctor::Json& first, const doctor::Json& other);

}  // namespace trainrt::cli
