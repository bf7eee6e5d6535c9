#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainrt::cli {

/// What a command has a Python interpreter do.
struct PythonCommand {
  std::string interpreter;  ///< its path
  std::string script;       ///< that it is to run; "" if it runs no file (-c, -m)
};

/// Of `python3 train.py`, and of a script whose first line names a Python (`./train.py`, `torchrun`), as the kernel reads
/// it (execve(2)). nullopt if the command is another program, or is not found on this node.
std::optional<PythonCommand> python_command_of(const std::vector<std::string>& command);

}  // namespace trainrt::cli
