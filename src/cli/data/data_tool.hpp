#pragma once
#include <span>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "core/plugin.hpp"

namespace trainrt::cli::datasets {

/// A plug-in: one file in cli/data/tools.
struct DataTool {
  std::string_view name;
  std::string_view usage;    ///< arguments after "trainrt": "data inspect SOURCE [--json]"
  std::string_view help;     ///< one line
  std::string_view details;  ///< description of the options, for `trainrt help data`; lines end with a line break
  /// Runs the tool with the arguments after `trainrt data NAME`.
  ExitCode (*run)(std::span<const std::string> words);
};

PluginTable<DataTool> data_tool_table();

}  // namespace trainrt::cli::datasets
