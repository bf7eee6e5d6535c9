#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

#include "core/plugin.hpp"

namespace trainrt::cli {

/// A command of the program, such as `trainrt result`. A plug-in: each file in cli/commands defines one.
struct Command {
  std::string_view name;
  std::string_view usage;                               ///< "result RUN_DIR [--json]"
  std::string_view help;                                ///< one line
  std::string_view details;                             ///< the further text of --help
  ExitCode (*run)(std::span<const std::string> words);  ///< runs the command; `words` follow its name
  /// Whether the printed output is the result of the command, so that the command fails if the output cannot be written.
  bool output_is_result = true;
  /// Whether the command writes run directories. Error messages about a full disk then name config keys that reduce the
  /// size of a run.
  bool writes_run = false;
};

PluginTable<Command> command_table();

}  // namespace trainrt::cli
