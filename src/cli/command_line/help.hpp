#pragma once
#include <span>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "cli/command_line/command.hpp"

namespace trainrt::cli {

/// The general meaning of an exit code. The help of a command may be more specific.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
std::span<const ExitMeaning> exit_meanings();

/// A description of trainrt that continues its name: "runs a training function ...".
extern const std::string_view program_description;

/// The smallest config that runs, indented.
extern const std::string_view smallest_config;

/// Returns the text of `trainrt --help`.
std::string general_help();
/// Returns the text of `trainrt COMMAND --help`.
std::string help_of(const Command& command);

}  // namespace trainrt::cli
