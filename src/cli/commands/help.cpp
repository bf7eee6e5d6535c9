// What there is to say of the commands, on the terminal or as manual pages.
#include <fmt/format.h>

#include "cli/words/arguments.hpp"
#include "cli/words/command.hpp"
#include "cli/words/config_page.hpp"
#include "cli/words/help.hpp"
#include "cli/words/manual.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view usage = "help [COMMAND | config] [--man-pages DIR]";

ExitCode help_command(std::span<const std::string> words) {
  const auto arguments =
      parse_arguments(words, {.with_value = {"man-pages"}, .most_operands = 1, .usage = std::string(usage)});
  if (arguments.has("man-pages"))
    write_manual(arguments.options.at("man-pages"));
  else if (arguments.operands.empty())
    fmt::print("{}", general_help());
  else if (arguments.operands[0] == "config")
    fmt::print("{}", config_page());
  else
    fmt::print("{}", help_of(find_plugin(command_table(), arguments.operands[0], "command")));
  return ExitCode::finished;
}

}  // namespace

extern const Command help;
const Command help{
    .name = "help",
    .usage = usage,
    .help =
        "what the commands do; `trainrt help COMMAND` is `trainrt COMMAND --help`, and `trainrt help config` shows a "
        "config with every key",
    .details =
        "--man-pages DIR writes a manual page of trainrt and one of each command into the folder DIR, "
        "as `make install` does:\n`man -l DIR/trainrt-export.1` shows one.\n",
    .run = help_command};

}  // namespace trainrt::cli::plugins
