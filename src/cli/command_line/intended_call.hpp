#pragma once
#include <span>
#include <string>
#include <string_view>

#include "cli/command_line/arguments.hpp"

namespace trainrt::cli {

// Error messages for invalid command lines. They show the call that the user probably meant.

/// Returns the error message for a command line that does not begin with a command. Precondition: `words` is not empty.
std::string unknown_command(std::span<const std::string> words);

/// Throws UsageError if a word before `--` is neither an option nor the value of an option. Must be called only for
/// commands that accept --section.key=value and `-- PROGRAM ARGS`, but no operands. `options` are the options of the
/// command, including -n if it has -n. `command` is the name of the command, or "" for `trainrt run` without its name.
void refuse_operands(std::string_view command, std::span<const std::string> words, std::span<const CommandOption> options);

/// Returns the message for `option`, a word such as "--confg" or "--confg=x", that a command does not accept. `next` is the
/// word that follows it, or "".
std::string unknown_option(const std::string& option, const std::string& next, const ArgumentSpec& spec);

/// Returns a warning if a word of a program's command sets a declared config key, such as --checkpoint.every=60, which then
/// has no effect on trainrt. Returns "" otherwise.
std::string key_given_to_program(std::span<const std::string> command);

}  // namespace trainrt::cli
