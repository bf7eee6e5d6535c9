#include "cli/command_line/help.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/terminal/wrapped_text.hpp"
#include "core/version.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t help_width = 100;
constexpr std::size_t help_margin = 2;

std::string examples_text(std::span<const Example> examples) {
  std::size_t width = 0;
  for (const auto& example : examples) width = std::max(width, example.call.size());
  std::string text;
  for (const auto& [call, purpose] : examples)
    text += purpose.empty() ? fmt::format("  {}\n", call) : fmt::format("  {:<{}}  # {}\n", call, width, purpose);
  return text;
}

/// Returns a list of terms with descriptions. All descriptions begin in the same column.
std::string list_text(const std::vector<std::pair<std::string, std::string_view>>& terms) {
  constexpr std::size_t max_term = 26;
  std::size_t width = 0;
  for (const auto& [term, text] : terms)
    if (term.size() <= max_term) width = std::max(width, term.size());
  std::string list;
  for (const auto& [term, text] : terms) list += described_term("  " + term, text, help_margin + width + 2, help_width);
  return list;
}

std::string options_text(std::span<const CommandOption> options) {
  std::vector<std::pair<std::string, std::string_view>> terms;
  for (const auto& option : options) terms.emplace_back(option_text(option), option.help);
  return list_text(terms);
}

std::string exit_codes_text(std::span<const ExitNote> codes) {
  std::vector<std::pair<std::string, std::string_view>> terms;
  for (const auto& [code, meaning] : codes) terms.emplace_back(std::to_string(code), meaning);
  return list_text(terms);
}

std::string notes_text(std::string_view notes) {
  std::string text;
  while (!notes.empty()) {
    const auto end = std::min(notes.find('\n'), notes.size());
    const auto paragraph = notes.substr(0, end);
    if (paragraph.empty() || paragraph.starts_with(' '))
      text += fmt::format("{}\n", paragraph);
    else
      text += described_term("  -", paragraph, help_margin + 2, help_width);
    notes.remove_prefix(std::min(end + 1, notes.size()));
  }
  return text;
}

std::string tools_text(const Command& command) {
  std::vector<std::pair<std::string, std::string_view>> terms;
  for (const auto* tool : in_order(command.tools())) terms.emplace_back(tool->name, tool->help);
  return list_text(terms) + fmt::format("\n  trainrt {} TOOL --help shows the options of a tool.\n", command.name);
}

void add_part(std::string& text, std::string_view title, const std::string& part) {
  if (!part.empty()) text += fmt::format("\n{}\n{}", title, part);
}

}  // namespace

const std::string_view program_description =
    "trains on all ranks of a batch job, and resumes after failures and time limits";

std::span<const Example> usual_calls() {
  static constexpr Example calls[] = {{"srun trainrt --config FILE", "in a Slurm job: start or resume the run of a config"},
                                      {"srun trainrt -- PROGRAM ARGS", "the same for a program, without a config"},
                                      {"trainrt -n 2 -- python3 train.py", "2 ranks on this machine, without Slurm"}};
  return calls;
}

std::string option_text(const CommandOption& option) {
  const auto name = option.is_parsed() ? fmt::format("--{}", option.name) : std::string(option.name);
  const auto shown = option.name == "output" ? "-o, " + name : name;
  const auto* const separator = option.argument.empty() || option.has_optional_value() ? "" : " ";
  return fmt::format("{}{}{}", shown, separator, option.argument);
}

std::string general_help() {
  constexpr std::size_t group_width = 14;
  auto text = fmt::format("trainrt {}: {}\n{}\n", version, program_description, examples_text(usual_calls()));
  std::string_view last_title;
  for (const auto* command : in_order(command_table())) {
    const auto title = group_title(command->group);
    text += fmt::format("{:<{}}{:<11}{}\n", title == last_title ? "" : title, group_width, command->name, command->help);
    last_title = title;
  }
  return text + "trainrt COMMAND --help: options, exit codes; trainrt --version; guides: README.md, share/doc/trainrt\n";
}

std::string help_of(const Command& command) {
  auto text = fmt::format("trainrt {}: {}\n\nusage: trainrt {}\n", full_name(command), command.help, command.usage);
  if (!command.examples.empty()) text += "\n" + examples_text(command.examples);
  if (command.tools != nullptr) add_part(text, "tools", tools_text(command));
  add_part(text, "options", options_text(command.options));
  add_part(text, "notes", notes_text(command.notes));
  add_part(text, "exit codes", exit_codes_text(command.exit_codes));
  return text;
}

}  // namespace trainrt::cli
