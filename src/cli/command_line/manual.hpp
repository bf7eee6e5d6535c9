#pragma once
#include <string>
#include <string_view>

#include "cli/command_line/command.hpp"

namespace trainrt::cli {

// Manual pages in man(7) macros, generated from the same records as --help and `trainrt list`.

/// Returns the page trainrt(1): the program, its commands and all config keys.
std::string manual();

/// Returns the page trainrt-NAME(1) of a command, or trainrt-COMMAND-NAME(1) of a tool.
std::string manual_of(const Command& command);

/// Writes all pages into `folder`, as trainrt.1 and trainrt-NAME.1. Creates the folder if it does not exist. Throws
/// UsageError if a file cannot be written.
void write_manual(const std::string& folder);

/// Escapes a text for roff, so that roff prints it unchanged.
std::string roff(std::string_view text);

}  // namespace trainrt::cli
