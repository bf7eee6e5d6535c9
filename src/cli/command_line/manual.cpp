#include "cli/command_line/manual.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/command_line/help.hpp"
#include "config/section.hpp"
#include "config/stop_rules.hpp"
#include "core/options.hpp"
#include "core/version.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "metrics/sink.hpp"
#include "trainer/events/callback_kind.hpp"
#include "tune/record/sweep_keys.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::cli {

namespace {

namespace fs = std::filesystem;

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string page_name(const Command& command) {
  auto name = "trainrt-" + full_name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

/// Returns all commands and their tools.
std::vector<const Command*> all_commands() {
  std::vector<const Command*> all;
  for (const auto* command : in_order(command_table())) {
    all.push_back(command);
    if (command->tools == nullptr) continue;
    const auto tools = in_order(command->tools());
    all.insert(all.end(), tools.begin(), tools.end());
  }
  return all;
}

/// Returns the beginning of a page, up to and including the heading of the synopsis.
std::string head(const std::string& name, std::string_view description) {
  return fmt::format(".TH \"{}\" 1 \"\" \"trainrt {}\" \"trainrt\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                     roff(upper(name)), version, roff(name), roff(description));
}

/// Returns a line in bold, for the synopsis.
std::string bold_line(std::string_view text) { return fmt::format("\\fB{}\\fR\n", roff(text)); }

/// Returns a term and its indented description.
std::string entry(std::string_view term, std::string_view text) {
  return fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(term), roff(text));
}

std::string preformatted(std::string_view text) { return fmt::format(".nf\n{}.fi\n", roff(text)); }

std::string keys(std::string_view title, std::span<const OptionSpec> options) {
  auto text = fmt::format(".SS {}\n", roff(title));
  for (const auto& option : options) {
    const auto facts = facts_of(option);
    text += entry(option.key, facts.empty() ? option.help : fmt::format("{} ({})", option.help, facts));
  }
  return text;
}

std::string config_section() {
  std::string text =
      ".SH CONFIG\nAn INI file of sections and keys. The option \\-\\-section.key=value on the command line "
      "overrides a key.\n.BR trainrt\\-run (1)\nshows the smallest config.\n"
      ".PP\nThe section [loop] contains the keys of the train function.\n.B trainrt list NAME\nshows those of the train "
      "function NAME.\n";
  text += keys("Keys of a run", config::declared_options());
  text += keys("Keys of [stop]", config::stop_options());
  text += keys("Keys of every [data.NAME]", data::common_options());
  for (const auto* format : data::format_table())
    text += keys(fmt::format("Keys of the data format {}", format->name), format->options);
  for (const auto* sink : metrics::sink_table())
    if (!sink->options.empty()) text += keys(fmt::format("Keys of [sink.{}]", sink->name), sink->options);
  for (const auto* callback : trainer::callback_table())
    text += keys(fmt::format("Keys of [callback.{}]", callback->name), callback->options);
  text += keys("Keys of [tune], for a sweep", tune::sweep_options());
  for (const auto* scheduler : tune::scheduler_table())
    if (!scheduler->options.empty()) text += keys(fmt::format("Keys of [tune.{}]", scheduler->name), scheduler->options);
  return text;
}

std::string exit_section(const Command& command) {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : command.exit_codes) text += entry(std::to_string(code), meaning);
  return text;
}

std::string examples_section(std::span<const Example> examples) {
  std::string text = ".SH EXAMPLES\n";
  for (const auto& [call, purpose] : examples) text += entry(call, purpose);
  return examples.empty() ? "" : text;
}

/// Returns the notes of a command. Lines that begin with a blank are not filled.
std::string notes_section(std::string_view notes) {
  std::string text = ".SH NOTES\n", block;
  const auto end_block = [&] {
    if (!block.empty()) text += preformatted(block);
    block.clear();
  };
  std::istringstream lines{std::string(notes)};
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with(' ')) {
      if (!line.empty()) block += line + "\n";
      continue;
    }
    end_block();
    text += fmt::format(".PP\n{}\n", roff(line));
  }
  end_block();
  return notes.empty() ? "" : text;
}

/// Returns the section SEE ALSO: the list of other pages, and a reference to the guides.
std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t i = 0; i < pages.size(); ++i)
    text += fmt::format(".BR {} (1){}\n", roff(pages[i]), i + 1 < pages.size() ? "," : "");
  return text + ".PP\nThe guides are in share/doc/trainrt of the installation.\n";
}

void write_page(const fs::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file);
  out << text;
  out.close();
  if (!out) throw UsageError(fmt::format("{}: {}", file.string(), std::strerror(errno != 0 ? errno : EIO)));
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '.':
        out += begins_line ? "\\&." : ".";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string manual() {
  auto text = head("trainrt", "distributed training on an HPC batch system");
  for (const auto& [call, purpose] : usual_calls()) text += bold_line(call) + ".br\n";
  text += bold_line("trainrt COMMAND ...");
  text += fmt::format(".SH DESCRIPTION\ntrainrt {}.\n", roff(program_description));
  text += examples_section(usual_calls()) + ".SH COMMANDS\n";
  std::string_view last_title;
  for (const auto* command : in_order(command_table())) {
    const auto title = group_title(command->group);
    if (title != last_title) text += fmt::format(".SS {}\n", roff(title));
    last_title = title;
    text += entry(command->name, command->help);
  }
  std::vector<std::string> pages;
  for (const auto* command : all_commands()) pages.push_back(page_name(*command));
  const std::vector<std::string> run{"run"};
  return text + config_section() + exit_section(find_command(run)) + see_also(pages);
}

std::string manual_of(const Command& command) {
  auto text = head(page_name(command), command.help);
  text += bold_line("trainrt " + std::string(command.usage));
  text += examples_section(command.examples);
  if (command.tools != nullptr) {
    text += ".SH TOOLS\n";
    for (const auto* tool : in_order(command.tools())) text += entry(tool->name, tool->help);
  }
  if (!command.options.empty()) text += ".SH OPTIONS\n";
  for (const auto& option : command.options) text += entry(option_text(option), option.help);
  return text + notes_section(command.notes) + exit_section(command) + see_also({"trainrt"});
}

void write_manual(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UsageError(fmt::format("{}: {}", folder, error.message()));
  write_page(fs::path(folder) / "trainrt.1", manual());
  for (const auto* command : all_commands())
    write_page(fs::path(folder) / (page_name(*command) + ".1"), manual_of(*command));
}

}  // namespace trainrt::cli
