// trainrt help: shows the help of a command or of the config, or writes manual pages.
#include <fmt/format.h>

#include "cli/command_line/arguments.hpp"
#include "cli/command_line/command.hpp"
#include "cli/command_line/config_template.hpp"
#include "cli/command_line/help.hpp"
#include "cli/command_line/manual.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view usage = "help [COMMAND | config] [--man-pages DIR]";

ExitCode help_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.with_value = {"man-pages"}, .max_operands = 1, .usage = std::string(usage)});
  if (arguments.has("man-pages"))
    write_manual(arguments.options.at("man-pages"));
  else if (arguments.operands.empty())
    fmt::print("{}", general_help());
  else if (arguments.operands[0] == "config")
    fmt::print("{}", config_template());
  else
    fmt::print("{}", help_of(find_plugin(command_table(), arguments.operands[0], "command")));
  return ExitCode::finished;
}

}  // namespace

extern const Command help;
const Command help{
    .name = "help",
    .usage = usage,
    .help = "show the help of a command, like `trainrt COMMAND --help`; `trainrt help config` shows a config with all keys",
    .details =
        "--man-pages DIR writes a manual page for trainrt and one for each command into the folder DIR, as `make install`\n"
        "does. `man -l DIR/trainrt-export.1` shows a page.\n",
    .run = help_command};

}  // namespace trainrt::cli::plugins
