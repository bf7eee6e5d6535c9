#pragma once
#include "cli/command_line/command.hpp"

namespace trainrt::cli::datasets {

/// A plug-in that defines a tool of `trainrt data`. Each plug-in is one file in cli/data/tools. `name` is the name of
/// the tool, and `usage` begins with "data NAME".
using DataTool = Command;

PluginTable<DataTool> data_tool_table();

}  // namespace trainrt::cli::datasets
