#include "cli/command_line/manual.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
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

std::string page_name(const Command& command) { return "trainrt-" + std::string(command.name); }

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
      "overrides a key. The smallest config that runs:\n.PP\n";
  text += preformatted(smallest_config);
  text += ".PP\nThe section [loop] contains the keys of the train function.\n.B trainrt list\nshows them.\n";
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

std::string exit_section() {
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_meanings()) text += entry(std::to_string(static_cast<int>(code)), meaning);
  return text;
}

/// Returns the list of other pages, and a reference to the guides.
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
  text += bold_line("srun trainrt --config FILE [--section.key=value ...]") + ".br\n" +
          bold_line("srun trainrt [--section.key=value ...] -- PROGRAM ARGS") + ".br\n" + bold_line("trainrt COMMAND ...");
  text += fmt::format(".SH DESCRIPTION\ntrainrt {}.\n.SH COMMANDS\n", roff(program_description));
  std::vector<std::string> pages;
  for (const auto* command : command_table()) {
    text += entry(command->name, command->help);
    pages.push_back(page_name(*command));
  }
  return text + config_section() + exit_section() + see_also(pages);
}

std::string manual_of(const Command& command) {
  auto text = head(page_name(command), command.help);
  text += bold_line("trainrt " + std::string(command.usage));
  text += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.details.empty() ? command.help : command.details));
  return text + see_also({"trainrt"});
}

void write_manual(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw UsageError(fmt::format("{}: {}", folder, error.message()));
  write_page(fs::path(folder) / "trainrt.1", manual());
  for (const auto* command : command_table())
    write_page(fs::path(folder) / (page_name(*command) + ".1"), manual_of(*command));
}

}  // namespace trainrt::cli
