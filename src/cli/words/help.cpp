#include "cli/words/help.hpp"

#include <fmt/format.h>

#include "core/version.hpp"

namespace trainrt::cli {

const std::string_view what_trainrt_does =
    "runs a training function on every rank of a batch job, and makes the run survive the batch system";

const std::string_view smallest_config =
    "  [run]\n  name         = first\n  storage_path = runs\n  [train]\n  function     = linear\n  [data.train]\n  "
    "format       = synthetic\n";

std::span<const ExitMeaning> exit_meanings() {
  static constexpr ExitMeaning meanings[] = {{ExitCode::finished, "finished"},
                                             {ExitCode::usage, "bad usage or config"},
                                             {ExitCode::failed, "failed"},
                                             {ExitCode::stopped, "stopped on purpose, run the same command again"},
                                             {ExitCode::no_progress, "attempts get no further"}};
  return meanings;
}

std::string general_help() {
  auto text = fmt::format(
      "trainrt {}: {}.\n\nusage: srun trainrt --config FILE [--section.key=value ...]\n       srun trainrt "
      "[--section.key=value ...] -- PROGRAM ARGS\n       trainrt COMMAND ...\n\n"
      "commands\n",
      version, what_trainrt_does);
  for (const auto* command : command_table()) text += fmt::format("  {:<10} {}\n", command->name, command->help);
  text += fmt::format(
      "\n  trainrt COMMAND --help tells more of one; trainrt --version shows which version this is, and those of its "
      "parts.\n\n"
      "A config is an INI file; `trainrt list` shows its keys and the train functions. The least of one:\n\n{}\n"
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
