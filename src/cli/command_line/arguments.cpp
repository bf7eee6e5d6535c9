#include "cli/command_line/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <trainrt/error.hpp>

#include "cli/command_line/intended_call.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli {

namespace po = boost::program_options;

namespace {

const CommandOption* find_option(const ArgumentSpec& spec, std::string_view name) {
  const auto found =
      std::ranges::find_if(spec.options, [&](const auto& option) { return option.is_parsed() && option.name == name; });
  return found == spec.options.end() ? nullptr : &*found;
}

po::options_description describe(const ArgumentSpec& spec) {
  po::options_description description;
  for (const auto& option : spec.options) {
    if (!option.is_parsed()) continue;
    const std::string name(option.name);
    if (option.argument.empty() || option.has_optional_value())
      description.add_options()(name.c_str(), "");
    else
      description.add_options()(name.c_str(), po::value<std::string>());
  }
  return description;
}

/// Replaces the short option -o by --output, if the command has that option.
std::vector<std::string> with_long_names(std::span<const std::string> words, const ArgumentSpec& spec) {
  std::vector<std::string> long_words(words.begin(), words.end());
  if (find_option(spec, "output") != nullptr) std::ranges::replace(long_words, std::string("-o"), std::string("--output"));
  return long_words;
}

/// Removes the words --NAME=VALUE from `words` for all options with an optional value, and stores the values in
/// `arguments`.
void take_optional_values(std::vector<std::string>& words, const ArgumentSpec& spec, Arguments& arguments) {
  for (const auto& option : spec.options) {
    if (!option.has_optional_value()) continue;
    const auto start = fmt::format("--{}=", option.name);
    std::erase_if(words, [&](const std::string& word) {
      if (!word.starts_with(start)) return false;
      if (word == start) throw UsageError(fmt::format("{} has no value; usage: trainrt {}", start, spec.usage));
      if (!arguments.options.emplace(option.name, word.substr(start.size())).second)
        throw UsageError(fmt::format("option --{} is given twice", option.name));
      return true;
    });
  }
}

/// Throws UsageError for a word that is not an option of the command.
[[noreturn]] void throw_unknown(const std::string& word, std::span<const std::string> words, const ArgumentSpec& spec) {
  const auto at = std::ranges::find(words, word);
  const bool has_next = at != words.end() && at + 1 != words.end();
  throw UsageError(unknown_option(word, has_next ? *(at + 1) : "", spec));
}

/// Returns whether a word of a usage line is the name of an operand: "RUN_DIR", "RUN_DIR|STORAGE_PATH", "FOLDER...".
bool is_operand_name(const std::string& word) {
  return std::ranges::all_of(word,
                             [](unsigned char c) { return std::isupper(c) != 0 || c == '_' || c == '|' || c == '.'; });
}

/// Returns the name of an operand for a message: "RUN_DIR, CHECKPOINT or FILE" for "RUN_DIR|CHECKPOINT|FILE..." in a
/// usage line.
std::string operand_in_words(std::string name) {
  std::erase(name, '.');
  if (const auto last = name.rfind('|'); last != std::string::npos) name.replace(last, 1, " or ");
  for (auto at = name.find('|'); at != std::string::npos; at = name.find('|')) name.replace(at, 1, ", ");
  return name;
}

/// Returns the error message for a missing operand, with the name of operand number `index` in the usage line.
std::string missing_operand(std::size_t index, std::string_view usage) {
  std::istringstream words{std::string(usage)};
  std::string name;
  for (std::string word; name.empty() && words >> word;)
    if (is_operand_name(word) && index-- == 0) name = operand_in_words(word);
  return fmt::format("missing argument{}{}; usage: trainrt {}", name.empty() ? "" : ": ", name, usage);
}

/// Returns the error message for an option without its value.
std::string missing_value(std::string name, const ArgumentSpec& spec) {
  name.erase(0, name.find_first_not_of('-'));
  const auto* option = find_option(spec, name);
  if (option == nullptr) return fmt::format("option --{0} has no value: --{0}=VALUE", name);
  return fmt::format("option --{0} has no value: --{0} {1}; usage: trainrt {2}", name, option->argument, spec.usage);
}

void store(const po::option& option, std::span<const std::string> words, const ArgumentSpec& spec, Arguments& arguments) {
  const auto& word = option.original_tokens.empty() ? option.string_key : option.original_tokens.front();
  if (option.unregistered) {
    if (!spec.overrides || word.find('.') == std::string::npos) throw_unknown(word, words, spec);
    arguments.overrides.push_back(word);
  } else if (option.position_key >= 0) {
    if (word.size() > 1 && word.front() == '-') throw_unknown(word, words, spec);
    arguments.operands.push_back(word);
  } else if (option.original_tokens.size() > 1 && !option.value.empty() && option.value.front().starts_with("--")) {
    throw UsageError(missing_value(option.string_key, spec));
  } else if (!arguments.options.emplace(option.string_key, option.value.empty() ? "" : option.value.front()).second) {
    throw UsageError(fmt::format("option --{} is given twice", option.string_key));
  }
}

/// Returns the first word of a usage line if it is the name of a command, else "".
std::string_view command_of(std::string_view usage) {
  const auto name = usage.substr(0, usage.find(' '));
  return std::ranges::all_of(name, [](unsigned char c) { return std::islower(c) != 0; }) ? name : "";
}

}  // namespace

Arguments parse_arguments(std::span<const std::string> words, const ArgumentSpec& spec) {
  const auto description = describe(spec);
  Arguments arguments;
  if (spec.program) {
    if (spec.max_operands == 0) refuse_operands(command_of(spec.usage), words, spec.options);
    const auto dashes = std::ranges::find(words, "--");
    if (dashes != words.end()) arguments.program.emplace(dashes + 1, words.end());
    words = words.first(static_cast<std::size_t>(dashes - words.begin()));
  }
  try {
    namespace style = po::command_line_style;
    auto long_words = with_long_names(words, spec);
    take_optional_values(long_words, spec, arguments);
    const auto parsed = po::command_line_parser(long_words)
                            .options(description)
                            .style(style::allow_long | style::long_allow_adjacent | style::long_allow_next)
                            .allow_unregistered()
                            .run();
    for (const auto& option : parsed.options) store(option, words, spec, arguments);
  } catch (const po::invalid_command_line_syntax& error) {
    if (error.kind() != po::invalid_syntax::missing_parameter &&
        error.kind() != po::invalid_syntax::empty_adjacent_parameter)
      throw UsageError(fmt::format("{}; usage: trainrt {}", error.what(), spec.usage));
    throw UsageError(missing_value(error.get_option_name(), spec));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}; usage: trainrt {}", error.what(), spec.usage));
  }
  if (arguments.operands.size() > spec.max_operands)
    throw UsageError(
        fmt::format("unexpected argument '{}'; usage: trainrt {}", arguments.operands[spec.max_operands], spec.usage));
  if (arguments.operands.size() < spec.min_operands)
    throw UsageError(missing_operand(arguments.operands.size(), spec.usage));
  return arguments;
}

}  // namespace trainrt::cli
