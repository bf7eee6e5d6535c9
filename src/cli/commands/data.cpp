// trainrt data: tools for datasets, which are plug-ins in cli/data/tools.
#include <fmt/format.h>

#include "cli/command_line/command.hpp"
#include "cli/data/data_tool.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view data_usage = "data inspect|convert|bench SOURCE... [--KEY=VALUE ...] | data serve";

/// Returns the description of the sources and of each tool. The records of tools are constants, so that they exist when the
/// record of this command is initialized.
std::string_view data_details() {
  static const std::string text = [] {
    std::string details =
        "SOURCE is a file, folder or pattern, as in the key source of a [data.NAME]; other keys of such a section are\n"
        "--KEY=VALUE: --format=csv --vector=x. --config FILE NAME reads the section [data.NAME] of a config; --KEY=VALUE\n"
        "overrides its keys. A key with the name of an option of the tool is --data.KEY=VALUE: --data.threads=4.\n";
    for (const auto* tool : datasets::data_tool_table())
      details += fmt::format("\ntrainrt {}\n{}", tool->usage, tool->details);
    return details;
  }();
  return text;
}

ExitCode data_command(std::span<const std::string> words) {
  if (words.empty() || words.front().starts_with("-"))
    throw UsageError(fmt::format("missing tool{}: choose one of {}; usage: trainrt {}",
                                 words.empty() ? "" : fmt::format(" before '{}'", words.front()),
                                 join(names_of(datasets::data_tool_table())), data_usage));
  return find_plugin(datasets::data_tool_table(), words.front(), "tool for data").run(words.subspan(1));
}

}  // namespace

extern const Command data;
const Command data{.name = "data",
                   .usage = data_usage,
                   .help = "inspect a dataset, convert it to one file, or measure how fast it is read",
                   .details = data_details(),
                   .run = data_command};

}  // namespace trainrt::cli::plugins
