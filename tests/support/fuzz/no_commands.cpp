#include "cli/command_line/command.hpp"

namespace trainrt::cli {

/// The fuzz targets parse words without the commands of trainrt.
PluginTable<Command> command_table() { return {}; }

}  // namespace trainrt::cli
