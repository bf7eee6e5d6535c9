// trainrt data: tools for datasets, which are plug-ins in cli/data/tools.
#include <algorithm>

#include <fmt/format.h>

#include "cli/command_line/command.hpp"
#include "cli/data/data_tool.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view data_usage = "data TOOL ...";

constexpr Example data_examples[] = {
    {"trainrt data inspect train.csv", "fields, statistics and first samples"},
    {"trainrt data convert train.csv --format=csv -o train.h5", "one file that is fast to read"},
    {"trainrt data bench --config train.ini train", "read speed of [data.train] of a config"}};

/// Returns the names of the tools, separated by commas, in the order of the help.
std::string tool_names() {
  std::vector<std::string> names;
  for (const auto* tool : in_order(datasets::data_tool_table())) names.emplace_back(tool->name);
  return join(names);
}

/// Returns the message for a word that names no tool. A word that looks like a file is probably the source of a tool.
std::string unknown_tool(const std::string& word) {
  const auto names = names_of(datasets::data_tool_table());
  const bool is_path = word.find_first_of("./*") != std::string::npos;
  return fmt::format("unknown tool '{}' of trainrt data{}; tools: {}{}", excerpt(word, 60), did_you_mean(word, names),
                     tool_names(), is_path ? "; to show a dataset: trainrt data inspect " + shell_quoted(word) : "");
}

ExitCode data_command(std::span<const std::string> words) {
  const auto tools = datasets::data_tool_table();
  if (words.empty() || words.front().starts_with("-"))
    throw UsageError(fmt::format("missing argument: TOOL{}; tools: {}; usage: trainrt data TOOL SOURCE",
                                 words.empty() ? "" : fmt::format(" before '{}'", excerpt(words.front(), 60)),
                                 tool_names()));
  const auto tool = std::ranges::find(tools, words.front(), [](const auto* each) { return each->name; });
  if (tool == tools.end()) throw UsageError(unknown_tool(words.front()));
  return (*tool)->run(words.subspan(1));
}

}  // namespace

extern const Command data;
const Command data{
    .name = "data",
    .group = CommandGroup::data,
    .usage = data_usage,
    .help = "inspect a dataset, convert it to one file, or measure its read speed",
    .examples = data_examples,
    .notes =
        "A dataset is given in one of two ways:\n"
        "    SOURCE...            a file, folder or pattern, as in the key source of a [data.NAME]; other\n"
        "                         keys of such a section are --KEY=VALUE: --format=csv --vector=x\n"
        "    --config FILE NAME   the section [data.NAME] of a config; --KEY=VALUE overrides its keys\n"
        "A key with the name of an option of the tool is --data.KEY=VALUE: --data.threads=4. `trainrt list FORMAT` shows "
        "the keys of a data format.\n",
    .run = data_command,
    .tools = datasets::data_tool_table};

}  // namespace trainrt::cli::plugins
