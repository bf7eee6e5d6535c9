#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::cli {

/// The parsed command line of a command.
struct Arguments {
  std::map<std::string, std::string> options;  ///< values by long name; a switch has the value ""
  std::vector<std::string> operands;
  std::vector<std::string> overrides;  ///< words of the form --section.key=value, unchanged
  /// The words after `--`: a program with its arguments. nullopt if the command line has no `--`.
  std::optional<std::vector<std::string>> program;
  bool has(const std::string& name) const { return options.contains(name); }
};

/// An option of a command, for its parser and its help.
struct CommandOption {
  /// Long name without dashes: "threads". "output" also has the short form -o. A name that begins with '-', such as
  /// "-n", is only shown in the help; the parser does not accept it.
  std::string_view name;
  /// Name of the value in the help: "N"; "": the option has no value; "[=METRIC]": the value may be given as --NAME=VALUE.
  std::string_view argument;
  std::string_view help;  ///< description and default, without a line break

  bool is_parsed() const { return !name.starts_with('-'); }
  bool has_optional_value() const { return argument.starts_with("[="); }
};

/// The options and operands that a command accepts.
struct ArgumentSpec {
  std::span<const CommandOption> options = {};
  std::size_t min_operands = 0;
  std::size_t max_operands = 0;
  bool overrides = false;       ///< whether --section.key=value is accepted
  bool program = false;         ///< whether `-- PROGRAM ARGS` is accepted
  std::string_view usage = {};  ///< "result RUN_DIR [--json]", for error messages
};

/// Parses `words`, which follow the name of the command. Abbreviations of options are not accepted. Throws UsageError that
/// names the invalid or missing word and shows the usage.
Arguments parse_arguments(std::span<const std::string> words, const ArgumentSpec& spec);

}  // namespace trainrt::cli
