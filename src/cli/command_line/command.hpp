#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

#include "cli/command_line/arguments.hpp"
#include "core/plugin.hpp"

namespace trainrt::cli {

/// The groups of commands in `trainrt --help`, in the order in which the help lists them.
enum class CommandGroup { run, view, checkpoints, data, search, machine, help };

/// An example call of a command, shown in its help.
struct Example {
  std::string_view call;  ///< "trainrt result runs/first"
  std::string_view purpose;
};

/// The meaning of an exit code of a command.
struct ExitNote {
  int code;
  std::string_view meaning;
};

/// The exit codes of a command that only reads files, or writes one file.
inline constexpr ExitNote usual_exit_codes[] = {
    {0, "done"}, {64, "invalid arguments or input"}, {70, "failed, or the output could not be written"}};

/// A plug-in that defines a command of the program, such as `trainrt result`. Each plug-in is one file in cli/commands.
/// A tool of a command (`trainrt data convert`) has a record of the same type.
struct Command {
  std::string_view name;
  CommandGroup group;
  int order = 0;           ///< position in the group, ascending
  std::string_view usage;  ///< "result RUN_DIR [--json]"
  std::string_view help;   ///< a definition in one line, at most 75 characters
  std::span<const Example> examples = {};
  std::span<const CommandOption> options = {};
  /// Further text of the help: paragraphs, each of which ends with a line break. A paragraph is wrapped, unless it
  /// begins with a blank.
  std::string_view notes = {};
  std::span<const ExitNote> exit_codes = usual_exit_codes;
  ExitCode (*run)(std::span<const std::string> words);  ///< runs the command; `words` follow its name
  /// Whether the printed output is the result of the command. Such a command fails if the output cannot be written.
  bool output_is_result = true;
  /// Whether the command writes run directories. Error messages about a full disk then name config keys that reduce the
  /// size of a run.
  bool writes_run = false;
  /// Returns the tools of the command. The user names one of them in the first word after the name of the command.
  /// nullptr: the command has no tools.
  PluginTable<Command> (*tools)() = nullptr;
};

PluginTable<Command> command_table();

/// Returns the words that call a command: "result", and "data convert" for a tool.
std::string full_name(const Command& command);

/// Returns the title of a group in `trainrt --help`.
std::string_view group_title(CommandGroup group);

/// Returns the commands of a table, sorted by group and within a group by `order`.
std::vector<const Command*> in_order(PluginTable<Command> table);

/// Returns the command with the name `words[0]`. Throws UsageError if there is no such command; the message suggests the
/// command line that was probably meant.
const Command& find_command(std::span<const std::string> words);

/// Returns the tool that the first two words name, or else the command that the first word names. Throws like
/// find_command().
const Command& find_command_or_tool(std::span<const std::string> words);

}  // namespace trainrt::cli
