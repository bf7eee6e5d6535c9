#include "cli/command_line/arguments.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>

#include <fmt/format.h>
#include <boost/program_options.hpp>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt::cli {

namespace po = boost::program_options;

namespace {

po::options_description describe(const ArgumentSpec& spec) {
  po::options_description description;
  for (const auto& name : spec.with_value) description.add_options()(name.c_str(), po::value<std::string>());
  for (const auto& name : spec.switches) description.add_options()(name.c_str(), "");
  return description;
}

/// Replaces the short option -o by --output, if the command has that option.
std::vector<std::string> with_long_names(std::span<const std::string> words, const ArgumentSpec& spec) {
  std::vector<std::string> long_words(words.begin(), words.end());
  if (std::ranges::count(spec.with_value, "output") > 0)
    std::ranges::replace(long_words, std::string("-o"), std::string("--output"));
  return long_words;
}

/// Removes the words --NAME=VALUE of the options in spec.optional_value from `words`, and stores their values.
void take_optional_values(std::vector<std::string>& words, const ArgumentSpec& spec, Arguments& arguments) {
  for (const auto& name : spec.optional_value)
    std::erase_if(words, [&](const std::string& word) {
      if (!word.starts_with("--" + name + "=")) return false;
      if (word.size() == name.size() + 3)
        throw UsageError(fmt::format("--{}= has no value; usage: trainrt {}", name, spec.usage));
      if (!arguments.options.emplace(name, word.substr(name.size() + 3)).second)
        throw UsageError(fmt::format("--{} is given twice", name));
      return true;
    });
}

/// Returns a hint for a word such as --lr=0.1, which lacks the name of its section; else "".
std::string section_hint(const std::string& word, const ArgumentSpec& spec) {
  const auto name = word.substr(0, word.find('='));
  if (!spec.overrides || !word.starts_with("--") || name.size() < 3 || name == word) return {};
  return fmt::format(": a config key needs its section, for example --loop.{}", word.substr(2));
}

[[noreturn]] void throw_unknown(const std::string& word, const ArgumentSpec& spec) {
  std::vector<std::string> known;
  for (const auto& name : spec.with_value) known.push_back("--" + name);
  for (const auto& name : spec.switches) known.push_back("--" + name);
  throw UsageError(fmt::format("unknown option '{}'{}{}; usage: trainrt {}", word, section_hint(word, spec),
                               did_you_mean(word, known), spec.usage));
}

/// Returns whether a word of a usage line is the name of an operand: "RUN_DIR", "RUN_DIR|STORAGE_PATH", "FOLDER...".
bool is_operand_name(const std::string& word) {
  return std::ranges::all_of(word,
                             [](unsigned char c) { return std::isupper(c) != 0 || c == '_' || c == '|' || c == '.'; });
}

/// Returns the error message for a missing operand, with the name of operand number `index` in the usage line.
std::string missing_operand(std::size_t index, const std::string& usage) {
  std::istringstream words(usage);
  std::string name;
  for (std::string word; name.empty() && words >> word;)
    if (is_operand_name(word) && index-- == 0) name = word;
  return fmt::format("missing argument{}{}; usage: trainrt {}", name.empty() ? "" : " ", name, usage);
}

}  // namespace

Arguments parse_arguments(std::span<const std::string> words, const ArgumentSpec& spec) {
  const auto description = describe(spec);
  Arguments arguments;
  if (spec.program) {
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
    for (const auto& option : parsed.options) {
      const auto& word = option.original_tokens.empty() ? option.string_key : option.original_tokens.front();
      if (option.unregistered) {
        if (!spec.overrides || word.substr(0, word.find('=')).find('.') == std::string::npos) throw_unknown(word, spec);
        arguments.overrides.push_back(word);
      } else if (option.position_key >= 0) {
        if (word.size() > 1 && word.front() == '-') throw_unknown(word, spec);
        arguments.operands.push_back(word);
      } else if (!arguments.options.emplace(option.string_key, option.value.empty() ? "" : option.value.front()).second) {
        throw UsageError(fmt::format("--{} is given twice", option.string_key));
      }
    }
  } catch (const po::error& error) {
    throw UsageError(fmt::format("{}; usage: trainrt {}", error.what(), spec.usage));
  }
  if (arguments.operands.size() > spec.max_operands)
    throw UsageError(fmt::format("unexpected argument '{}'{}; usage: trainrt {}", arguments.operands[spec.max_operands],
                                 spec.program && !arguments.program ? " (put -- before the name of a program)" : "",
                                 spec.usage));
  if (arguments.operands.size() < spec.min_operands)
    throw UsageError(missing_operand(arguments.operands.size(), spec.usage));
  return arguments;
}

}  // namespace trainrt::cli
