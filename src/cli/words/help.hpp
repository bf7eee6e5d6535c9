#pragma once
#include <span>
#include <string>
#include <string_view>

#include <trainrt/error.hpp>

#include "cli/words/command.hpp"

namespace trainrt::cli {

/// What an exit code tells a batch script; a command's own help says more.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};
std::span<const ExitMeaning> exit_meanings();

/// What trainrt does, in a clause that goes on from its name.
extern const std::string_view what_trainrt_does;

/// The smallest config that runs, indented.
extern const std::string_view smallest_config;

std::string general_help();
std::string help_of(const Command& command);

}  // namespace trainrt::cli
