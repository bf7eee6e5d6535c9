#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::cli {

/// The parsed command line of a command.
struct Arguments {
  std::map<std::string, std::string> options;  ///< values by long name; a switch has the value ""
  std::vector<std::string> operands;
  std::vector<std::string> overrides;  ///< words of the form --section.key=value, unchanged
  /// The words after `--`: a program with its arguments. nullopt without `--`.
  std::optional<std::vector<std::string>> program;
  bool has(const std::string& name) const { return options.contains(name); }
};

/// The options and operands that a command accepts.
struct ArgumentSpec {
  std::vector<std::string> with_value;  ///< long names of the options with a value; "output" also has the short form -o
  std::vector<std::string> switches;    ///< long names of the options without a value
  std::vector<std::string> optional_value = {};  ///< long names of the switches that also accept --NAME=VALUE
  std::size_t min_operands = 0;
  std::size_t max_operands = 0;
  bool overrides = false;  ///< whether --section.key=value is accepted
  bool program = false;    ///< whether `-- COMMAND ARGS` is accepted
  std::string usage;       ///< "result RUN_DIR [--json]", for error messages
};

/// Parses `words`, which follow the name of the command. Abbreviations of options are not accepted. Throws UsageError that
/// names the invalid or missing word and shows the usage.
Arguments parse_arguments(std::span<const std::string> words, const ArgumentSpec& spec);

}  // namespace trainrt::cli
