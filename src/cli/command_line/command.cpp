#include "cli/command_line/command.hpp"

#include <algorithm>

#include "cli/command_line/intended_call.hpp"

namespace trainrt::cli {

std::string_view group_title(CommandGroup group) {
  struct Title {
    CommandGroup group;
    std::string_view title;
  };
  static constexpr Title titles[] = {
      {CommandGroup::run, "run"},   {CommandGroup::view, "look at runs"}, {CommandGroup::checkpoints, "checkpoints"},
      {CommandGroup::data, "data"}, {CommandGroup::search, "search"},     {CommandGroup::machine, "this machine"},
      {CommandGroup::help, "help"}};
  const auto* found = std::ranges::find(titles, group, &Title::group);
  return found == std::end(titles) ? "" : found->title;
}

std::string full_name(const Command& command) {
  const auto tool = " " + std::string(command.name);
  const auto first = command.usage.substr(0, command.usage.find(' '));
  return command.usage.substr(first.size()).starts_with(tool) ? std::string(first) + tool : std::string(command.name);
}

std::vector<const Command*> in_order(PluginTable<Command> table) {
  std::vector<const Command*> commands(table.begin(), table.end());
  std::ranges::stable_sort(commands, {}, [](const Command* command) { return std::pair(command->group, command->order); });
  return commands;
}

const Command& find_command(std::span<const std::string> words) {
  for (const auto* command : command_table())
    if (command->name == words.front()) return *command;
  throw UsageError(unknown_command(words));
}

const Command& find_command_or_tool(std::span<const std::string> words) {
  const auto& command = find_command(words);
  if (command.tools != nullptr && words.size() > 1)
    for (const auto* tool : command.tools())
      if (tool->name == words[1]) return *tool;
  return command;
}

}  // namespace trainrt::cli
