// trainrt help: shows the help of a command or of the config, or writes manual pages.
#include <fmt/format.h>

#include "cli/command_line/command.hpp"
#include "cli/command_line/config_template.hpp"
#include "cli/command_line/help.hpp"
#include "cli/command_line/manual.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view usage = "help [COMMAND [TOOL] | config] [--man-pages DIR]";

constexpr Example help_examples[] = {{"trainrt help run", "same as trainrt run --help"},
                                     {"trainrt help data convert", "a tool of a command"},
                                     {"trainrt help config > train.ini", "a config with all keys and their defaults"}};

constexpr CommandOption help_options[] = {
    {"man-pages", "DIR",
     "write the manual pages into the folder DIR, as `make install` does; `man -l DIR/trainrt.1` shows one"}};

ExitCode help_command(std::span<const std::string> words) {
  const auto arguments = parse_arguments(words, {.options = help_options, .max_operands = 2, .usage = usage});
  if (arguments.has("man-pages"))
    write_manual(arguments.options.at("man-pages"));
  else if (arguments.operands.empty())
    fmt::print("{}", general_help());
  else if (arguments.operands[0] == "config")
    fmt::print("{}", config_template());
  else
    fmt::print("{}", help_of(find_command_or_tool(arguments.operands)));
  return ExitCode::finished;
}

}  // namespace

extern const Command help;
const Command help{.name = "help",
                   .group = CommandGroup::help,
                   .usage = usage,
                   .help = "show the help of a command; `trainrt help config` shows all config keys",
                   .examples = help_examples,
                   .options = help_options,
                   .run = help_command};

}  // namespace trainrt::cli::plugins
