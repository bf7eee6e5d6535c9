#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/doctor/python_command.hpp"

namespace trainrt::cli {

/// What a Python interpreter says of itself.
struct PythonReport {
  std::string version;                            ///< "3.11.2"
  std::map<std::string, std::string> frameworks;  ///< versions of those that are installed, by the name of their package
  std::vector<std::string> missing;  ///< modules that the script imports first of all, and that it does not find
  std::string mistake;               ///< why the script cannot be parsed; "" if it can
};

/// Starts the interpreter for a moment: it imports none of the frameworks, and runs nothing of the script. Throws Error if
/// it takes longer than `limit_seconds`, fails, or answers something else.
PythonReport ask_python(const PythonCommand& command, double limit_seconds);

/// As ask_python() has it printed, JSON. Throws Error.
PythonReport python_report_from(const std::string& text);

/// What another node's Python lacks of the first node's, has besides, or has in another version: "torch 2.1.0 instead of
/// 2.2.0". Pure.
std::vector<std::string> differences(const PythonReport& first, const PythonReport& other);

}  // namespace trainrt::cli
