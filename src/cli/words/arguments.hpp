#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainrt::cli {

/// The words of a command line, sorted.
struct Arguments {
  std::map<std::string, std::string> options;  ///< by long name; switches hold ""
  std::vector<std::string> operands;
  std::vector<std::string> overrides;  ///< --section.key=value, as they stand
  /// What stands behind `--`, word for word: a program with its arguments. nullopt if there is no `--`.
  std::optional<std::vector<std::string>> program;
  bool has(const std::string& name) const { return options.contains(name); }
};

/// What a command takes: names with values, switches, and how many operands; whether --section.key=value, and a program.
struct ArgumentSpec {
  std::vector<std::string> with_value;
  std::vector<std::string> switches;
  std::size_t least_operands = 0;
  std::size_t most_operands = 0;
  bool overrides = false;
  bool program = false;  ///< whether `-- COMMAND ARGS` may follow
  std::string usage;     ///< for messages
};

/// Parses with Boost.Program_options, without its guessing of abbreviations. Throws UsageError that names the word.
Arguments parse_arguments(std::span<const std::string> words, const ArgumentSpec& spec);

}  // namespace trainrt::cli
