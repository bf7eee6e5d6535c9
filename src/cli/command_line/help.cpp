#include "cli/command_line/help.hpp"

#include <fmt/format.h>

#include "core/version.hpp"

namespace trainrt::cli {

const std::string_view program_description =
    "runs a training function on every rank of a batch job, and continues the run after failures and time limits";

const std::string_view smallest_config =
    "  [run]\n  name         = first\n  storage_path = runs\n  [train]\n  function     = linear\n  [data.train]\n  "
    "format       = synthetic\n";

std::span<const ExitMeaning> exit_meanings() {
  static constexpr ExitMeaning meanings[] = {{ExitCode::finished, "finished"},
                                             {ExitCode::usage, "bad usage or config"},
                                             {ExitCode::failed, "failed"},
                                             {ExitCode::stopped, "stopped, run the same command again to continue"},
                                             {ExitCode::no_progress, "repeated attempts made no progress"}};
  return meanings;
}

std::string general_help() {
  auto text = fmt::format(
      "trainrt {}: {}.\n\nusage: srun trainrt --config FILE [--section.key=value ...]\n       srun trainrt "
      "[--section.key=value ...] -- PROGRAM ARGS\n       trainrt COMMAND ...\n\n"
      "commands\n",
      version, program_description);
  for (const auto* command : command_table()) text += fmt::format("  {:<10} {}\n", command->name, command->help);
  text += fmt::format(
      "\n  trainrt COMMAND --help describes a command; trainrt --version shows the versions of trainrt and its "
      "libraries.\n\n"
      "A config is an INI file; `trainrt list` shows its keys and the train functions. The smallest valid config:\n\n{}\n"
      "Exit codes:",
      smallest_config);
  std::string_view separator = " ";
  for (const auto& [code, meaning] : exit_meanings()) {
    text += fmt::format("{}{} {}", separator, static_cast<int>(code), meaning);
    separator = "; ";
  }
  return text + ".\n";
}

std::string help_of(const Command& command) {
  const auto text = fmt::format("usage: trainrt {}\n\n{}\n", command.usage, command.help);
  return command.details.empty() ? text : fmt::format("{}\n{}", text, command.details);
}

}  // namespace trainrt::cli
