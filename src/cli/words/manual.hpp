#pragma once
#include <string>
#include <string_view>

#include "cli/words/command.hpp"

namespace trainrt::cli {

// The manual in man(7) macros, made of the same records as --help and `trainrt list`.

/// trainrt(1): the program, its commands and every config key.
std::string manual();

/// trainrt-NAME(1).
std::string manual_of(const Command& command);

/// Writes manual() and each command's page as trainrt.1 and trainrt-NAME.1 into a folder, which is made if it is not there.
/// UsageError if a file cannot be written.
void write_manual(const std::string& folder);

/// A text as roff prints it: none of it is taken for a request or an escape.
std::string roff(std::string_view text);

}  // namespace trainrt::cli
