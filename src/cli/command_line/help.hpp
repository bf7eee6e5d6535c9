#pragma once
#include <string>
#include <string_view>

#include "cli/command_line/command.hpp"

namespace trainrt::cli {

/// A description of trainrt, which is printed after its name: "trains on all ranks ...".
extern const std::string_view program_description;

/// The most common calls of trainrt, for `trainrt --help` and the manual.
std::span<const Example> usual_calls();

/// Returns an option as it is typed: "--threads N", "-o, --output FILE".
std::string option_text(const CommandOption& option);

/// Returns the text of `trainrt --help`, which fits on one screen.
std::string general_help();
/// Returns the text of `trainrt COMMAND --help`, at most 100 columns wide.
std::string help_of(const Command& command);

}  // namespace trainrt::cli
