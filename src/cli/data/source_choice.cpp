#include "cli/data/source_choice.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/config/config_file.hpp"
#include "config/renamed_keys.hpp"
#include "core/environment.hpp"
#include "core/text/text.hpp"
#include "trainer/start/expanded_config.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr std::string_view section_prefix = "data.";
constexpr std::size_t max_sources = 1 << 20;

bool is_own(const ArgumentSpec& own, const std::string& name) {
  return std::ranges::find(own.options, name, &CommandOption::name) != own.options.end();
}

/// Stores in `keys` those words that set keys of the dataset. Returns the remaining words.
std::vector<std::string> take_keys(std::span<const std::string> words, const ArgumentSpec& own, Options& keys) {
  std::vector<std::string> others;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    auto name = word.starts_with("--") && equals != std::string::npos ? word.substr(2, equals - 2) : "";
    if (name.empty() || is_own(own, name)) {
      others.push_back(word);
      continue;
    }
    if (name.starts_with(section_prefix)) name.erase(0, section_prefix.size());
    if (keys.has(name)) throw UsageError(fmt::format("option --{} is given twice", name));
    keys.set(name, {word.substr(equals + 1), std::string(command_line)});
  }
  require_current_keys(keys);
  return others;
}

std::vector<std::string> names_of_datasets(const Options& config) {
  std::vector<std::string> names;
  for (const auto& key : config.keys()) {
    if (!key.starts_with(section_prefix)) continue;
    const auto end = std::max(key.rfind('.'), section_prefix.size());
    const auto name = key.substr(section_prefix.size(), end - section_prefix.size());
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Expands environment variables only in the paths of datasets, because other paths may contain variables that are not
/// set here.
Options with_expanded_data(Options config) {
  Options data;
  for (const auto& key : config.keys())
    if (key.starts_with(section_prefix)) data.set(key, *config.find(key));
  const auto expanded = trainer::expanded_config(data, Environment::of_process());
  for (const auto& key : expanded.keys()) config.set(key, *expanded.find(key));
  return config;
}

/// Adds the keys of a section of the config, except those that are given on the command line.
void add_section(SourceChoice& choice, const std::string& path) {
  const auto config = with_expanded_data(read_config_file(path));
  if (choice.arguments.operands.size() != 1)
    throw UsageError(
        "--config FILE must be followed by the name of one dataset, as in --config train.ini NAME for the section "
        "[data.NAME]");
  choice.name = choice.arguments.operands.front();
  const auto section = config.section(std::string(section_prefix) + choice.name);
  const auto names = names_of_datasets(config);
  if (section.keys().empty())
    throw UsageError(fmt::format("{} has no section [data.{}]{}; {}", path, choice.name, did_you_mean(choice.name, names),
                                 names.empty() ? "it has no section [data.NAME]" : "its datasets: " + join(names)));
  for (const auto& key : section.keys())
    if (!choice.keys.has(key)) choice.keys.set(key, *section.find(key));
  for (const auto& name : names)
    if (name != choice.name) choice.others.emplace(name, config.section(std::string(section_prefix) + name));
  if (const auto* seed = config.find("run.seed"))
    choice.seed = static_cast<std::uint64_t>(parse_integer(seed->text).value_or(0));
}

}  // namespace

SourceChoice choose_source(std::span<const std::string> words, ArgumentSpec own) {
  own.max_operands = max_sources;
  SourceChoice choice;
  choice.arguments = parse_arguments(take_keys(words, own, choice.keys), own);
  const auto& arguments = choice.arguments;
  if (arguments.has("config"))
    add_section(choice, arguments.options.at("config"));
  else if (!arguments.operands.empty())
    choice.keys.set("source", {join(arguments.operands, ","), std::string(command_line)});
  else if (!choice.keys.has("source") && !choice.keys.has("format"))
    throw UsageError(fmt::format("missing argument: SOURCE (a file, folder or pattern); usage: trainrt {}", own.usage));
  choice.seed = static_cast<std::uint64_t>(number_option(arguments, "seed", static_cast<std::int64_t>(choice.seed), 0));
  return choice;
}

void require_current_keys(const Options& keys, std::span<const config::RenamedKey> table) {
  const std::string any_section = "data.NAME.";
  for (const auto& key : keys.keys())
    if (const auto name = config::new_name_of(any_section + key, table))
      throw UsageError(fmt::format("the key {0} of [data.NAME] is now named {1}: use --{1}=VALUE or --data.{1}=VALUE", key,
                                   name->substr(any_section.size())));
}

std::int64_t number_option(const Arguments& arguments, const std::string& name, std::int64_t default_value,
                           std::int64_t min) {
  if (!arguments.has(name)) return default_value;
  const auto& text = arguments.options.at(name);
  const auto number = parse_integer(text);
  if (!number || *number < min)
    throw UsageError(fmt::format("invalid --{} '{}': expected an integer of {} or more", name, excerpt(text, 60), min));
  return *number;
}

}  // namespace trainrt::cli::datasets
