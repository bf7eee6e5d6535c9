#pragma once
#include <span>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "core/plugin.hpp"

namespace trainrt::cli::datasets {

/// A plug-in: one file in cli/data_tools. `run` takes the words after `trainrt data NAME`.
struct DataTool {
  std::string_view name;
  std::string_view usage;  ///< "data inspect SOURCE [--json]"
  std::string_view help;   ///< one line
  ExitCode (*run)(std::span<const std::string> words);
};

PluginTable<DataTool> data_tool_table();

}  // namespace trainrt::cli::datasets
