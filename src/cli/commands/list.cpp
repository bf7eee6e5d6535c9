// trainrt list: shows train functions, config keys and plug-ins: their names, or one with all its keys.
#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/command_line/command.hpp"
#include "cli/listing/catalog.hpp"
#include "cli/terminal/print.hpp"
#include "cli/terminal/wrapped_text.hpp"
#include "core/output/terminal.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::plugins {

namespace {

constexpr std::string_view list_usage = "list [NAME | KIND | all]";

constexpr Example list_examples[] = {{"trainrt list", "the names of all plug-ins and keys"},
                                     {"trainrt list linear", "a train function with its keys"},
                                     {"trainrt list --train.library=./libmine.so mine", "a train function of a library"},
                                     {"trainrt list checkpoint", "the keys of a config section"},
                                     {"trainrt list checkpoint.num_to_keep", "one key"},
                                     {"trainrt list formats", "all data formats with a description"}};

constexpr std::size_t default_list_width = 100;
constexpr std::size_t no_wrapping = 1 << 20;

/// Returns the maximum width of descriptions: the width of the terminal. In output to a file or pipe, each description
/// is a single line, so the width is unlimited.
std::size_t description_width() {
  constexpr std::size_t min_width = 60;
  const auto terminal = terminal_of_output();
  return terminal ? std::max<std::size_t>(terminal->columns, min_width) : no_wrapping;
}

void print_row(const std::string& name, const std::string& text) {
  constexpr std::size_t text_column = 31;
  print_safely("{}", described_term("  " + name, text, std::max(text_column, name.size() + 3), description_width()));
}

std::string with_facts(const std::string& help, const std::string& facts) {
  return facts.empty() ? help : fmt::format("{} ({})", help, facts);
}

/// Prints the names of the entries of a kind, with their descriptions.
void print_kind(const listing::Kind& kind) {
  print_safely("{}\n", kind.title);
  for (const auto& entry : kind.entries) print_row(entry.name, entry.help);
}

/// Prints an entry with its keys.
void print_entry(const listing::Kind& kind, const listing::Entry& entry) {
  print_safely("{}", described_term(fmt::format("{} {}:", kind.singular, entry.name), entry.help,
                                    kind.singular.size() + entry.name.size() + 3, description_width()));
  for (const auto& key : entry.keys) print_row(entry.shown_name(key), with_facts(key.help, key.facts));
  if (!entry.note.empty()) print_safely("  {}\n", entry.note);
}

/// Prints one key, and how it is set.
void print_key(const listing::Found& found) {
  const auto& [kind, entry, key] = found;
  print_safely("{} of {} {}\n", entry->section.empty() ? "argument" : "key", kind->singular, entry->name);
  print_row(entry->shown_name(*key), with_facts(key->help, key->facts));
  if (!entry->section.empty())
    print_safely("  set by: {0} = VALUE in [{1}], or --{1}.{0}=VALUE\n", key->name, entry->section);
}

void print_named(std::string_view name, std::span<const listing::Kind> kinds) {
  bool is_first = true;
  for (const auto& found : listing::find_named(kinds, name)) {
    if (!is_first) print_safely("\n");
    is_first = false;
    if (found.key != nullptr)
      print_key(found);
    else
      print_entry(*found.kind, *found.entry);
  }
}

/// Prints the names of all entries, and of the keys of config sections.
void print_names(std::span<const listing::Kind> kinds) {
  constexpr std::size_t names_column = 18;
  for (const auto& kind : kinds) {
    if (kind.word == "sections") continue;
    std::vector<std::string> names;
    for (const auto& entry : kind.entries) names.push_back(entry.name);
    print_safely("{}", described_term(kind.word, join(names), names_column, default_list_width));
  }
  print_safely("\nconfig sections and their keys\n");
  for (const auto& entry : kinds.back().entries) {
    if (entry.keys.empty()) continue;
    std::vector<std::string> names;
    for (const auto& key : entry.keys) names.push_back(key.name);
    print_safely("{}", described_term(fmt::format("  [{}]", entry.name), join(names), names_column, default_list_width));
  }
  print_safely("  [loop]          the keys of the train function\n");
  print_safely(
      "\ntrainrt list NAME describes one of these names; trainrt list KIND, such as trainrt list formats, describes all "
      "names of a kind.\n");
}

void print_all(std::span<const listing::Kind> kinds) {
  bool is_first = true;
  for (const auto& kind : kinds) {
    print_safely("{}", is_first ? "" : "\n");
    is_first = false;
    print_kind(kind);
    for (const auto& entry : kind.entries)
      if (!entry.keys.empty()) {
        print_safely("\n");
        print_entry(kind, entry);
      }
  }
}

/// Throws UsageError for a name with dashes, such as --formats or --all, which `trainrt list` accepts only without
/// dashes.
void refuse_dashes(std::span<const std::string> words, std::span<const listing::Kind> kinds) {
  for (const auto& word : words) {
    if (!word.starts_with("--") || word.find_first_of(".=") != std::string::npos) continue;
    const auto name = word.substr(2);
    const bool is_kind = std::ranges::find(kinds, name, &listing::Kind::word) != kinds.end();
    if (is_kind || name == "all")
      throw UsageError(fmt::format("unknown option '{}': trainrt list {} shows the names", word, name));
  }
}

/// Prints the train function of a library that the options name: --train.library=FILE.so, and perhaps
/// --train.function=NAME. The operand may be the function's name. Returns false if the options name no library.
bool print_function_of_library(const Arguments& arguments) {
  constexpr std::string_view library_option = "--train.library=", function_option = "--train.function=";
  std::string library, name = arguments.operands.empty() ? "" : arguments.operands.front();
  for (const auto& word : arguments.overrides) {
    if (word.starts_with(library_option)) library = word.substr(library_option.size());
    if (word.starts_with(function_option)) name = word.substr(function_option.size());
  }
  if (library.empty()) return false;
  const auto kind = listing::function_of_library(name, library);
  print_entry(kind, kind.entries.front());
  return true;
}

ExitCode list_command(std::span<const std::string> words) {
  const auto kinds = listing::catalog();
  refuse_dashes(words, kinds);
  const auto arguments = parse_arguments(words, {.max_operands = 1, .overrides = true, .usage = list_usage});
  if (print_function_of_library(arguments)) return ExitCode::finished;
  if (!arguments.overrides.empty() && !arguments.operands.empty())
    throw UsageError(fmt::format("'{}' and '{}': `trainrt list` describes one name; usage: trainrt {}",
                                 excerpt(arguments.overrides.front(), 60), excerpt(arguments.operands.front(), 60),
                                 list_usage));
  const auto& names =
      arguments.overrides.empty() ? arguments.operands : arguments.overrides;  // --section.key is a name, too
  if (names.empty()) {
    print_names(kinds);
    return ExitCode::finished;
  }
  const auto& name = names.front();
  const auto kind = std::ranges::find(kinds, name, &listing::Kind::word);
  if (name == "all")
    print_all(kinds);
  else if (kind != kinds.end())
    print_kind(*kind);
  else
    print_named(name, kinds);
  return ExitCode::finished;
}

}  // namespace

extern const Command list;
const Command list{
    .name = "list",
    .group = CommandGroup::machine,
    .order = 2,
    .usage = list_usage,
    .help = "show train functions, config keys, data formats and other plug-ins",
    .examples = list_examples,
    .notes =
        "NAME is a train function, data format, transform, preprocessor, sink, framework or another plug-in, a config "
        "section, or a key with or without its section. Everything with this name is shown, with valid values and "
        "defaults.\n"
        "KIND is the first word of a line of `trainrt list`: functions, formats, transforms and so on.\n"
        "all prints everything, on one line per key if the output is not a terminal.\n",
    .run = list_command};

}  // namespace trainrt::cli::plugins
