#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainrt::cli {

/// A command that runs a Python interpreter.
struct PythonCommand {
  std::string interpreter;  ///< path of the interpreter
  std::string script;       ///< path of the script; "" if the command runs no file (-c, -m)
};

/// Returns the interpreter and the script of a command such as `python3 train.py`, or of a script whose first line (#!)
/// names Python, such as `./train.py` or `torchrun`. Returns nullopt for another program, or if it is not found on this
/// node.
std::optional<PythonCommand> python_command_of(const std::vector<std::string>& command);

}  // namespace trainrt::cli
