#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

#include "core/plugin.hpp"

namespace trainrt::cli {

/// A plug-in: one file in cli/commands. `run` takes the words after the command's name.
struct Command {
  std::string_view name;
  std::string_view usage;    ///< "result RUN_DIR [--json]"
  std::string_view help;     ///< one line
  std::string_view details;  ///< what --help adds
  ExitCode (*run)(std::span<const std::string> words);
  bool output_is_result = true;  ///< what it prints is what it is called for: if that cannot be written it fails
  bool writes_run = false;       ///< it writes run directories: keys of the config decide how much
};

PluginTable<Command> command_table();

}  // namespace trainrt::cli
