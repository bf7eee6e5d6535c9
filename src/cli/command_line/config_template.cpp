#include "cli/command_line/config_template.hpp"

#include <span>
#include <sstream>

#include <fmt/format.h>

#include "config/section.hpp"
#include "config/stop_rules.hpp"
#include "data/section/dataset_options.hpp"
#include "data/source/format.hpp"
#include "metrics/sink.hpp"
#include "trainer/events/callback_kind.hpp"
#include "tune/record/sweep_keys.hpp"
#include "tune/search/scheduler.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t page_width = 120;

/// Wraps a text into comment lines.
std::string as_comment(const std::string& text) {
  std::istringstream words(text);
  std::string lines, line = "#";
  for (std::string word; words >> word;) {
    if (line.size() + 1 + word.size() > page_width) {
      lines += line + "\n";
      line = "#";
    }
    line += " " + word;
  }
  return lines + line + "\n";
}

enum class Shown { set, commented_out };

/// Returns the description of a key and a line that sets it to its default. The value of a required key is left empty.
/// The line is commented out if `shown` requires it, or if the key is optional and has no default.
std::string key_text(const OptionSpec& option, Shown shown) {
  const auto facts = facts_of({.key = option.key,
                               .type = option.type,
                               .default_value = "",  // shown as the value
                               .help = "",
                               .required = option.required,
                               .choices = option.choices,
                               .range = option.range,
                               .unit = option.unit,
                               .form = option.form});
  const auto name = option.key.substr(option.key.find('.') + 1);
  const bool is_set = shown == Shown::set && (option.required || !option.default_value.empty());
  return as_comment(option.help + (facts.empty() ? "" : " (" + facts + ")")) +
         fmt::format("{}{} ={}{}\n", is_set ? "" : "#", name, option.default_value.empty() ? "" : " ",
                     option.default_value);
}

std::string head_of(std::string_view section, std::string_view help) {
  return fmt::format("\n[{}]  # {}\n", section, help);
}

std::string keys_text(std::span<const OptionSpec> options) {
  std::string text;
  for (const auto& option : options) text += key_text(option, Shown::commented_out);
  return text;
}

}  // namespace

std::string config_template() {
  std::string text =
      "# Every key of a config, with its default. Keys without a default are commented out, except for the two required "
      "keys.\n"
      "# --section.key=value on the command line overrides the file.\n"
      "# In a path, ${NAME} is replaced by the environment variable NAME, and $$ by one $. $NAME and ~ are errors.\n";
  for (const auto* section : config::sections()) {
    text += head_of(section->name, section->help);
    for (const auto& key : section->keys) text += key_text(key.option, Shown::set);
  }
  text += head_of("loop", "keys of the train function; `trainrt list NAME` shows those of the function NAME");
  text += head_of("stop", "limits that end the run before its train function returns") + keys_text(config::stop_options());
  text +=
      head_of("data.NAME", "a dataset; a config may have any number of these sections") + keys_text(data::common_options());
  for (const auto* format : data::format_table())
    text += fmt::format("\n# [data.NAME] of the format {}: {}\n", format->name, format->help) + keys_text(format->options);
  for (const auto* sink : metrics::sink_table())
    if (!sink->options.empty()) text += head_of(fmt::format("sink.{}", sink->name), sink->help) + keys_text(sink->options);
  for (const auto* callback : trainer::callback_table())
    text += head_of(fmt::format("callback.{}", callback->name), callback->help) + keys_text(callback->options);
  text += head_of("tune", "hyperparameter search, for `trainrt tune` only") + keys_text(tune::sweep_options());
  text += head_of("tune.space", "values that trials sample, such as lr = loguniform(1e-4, 1e-1)");
  text += head_of("tune.mutations", "values that clones of pbt change; by default all of [tune.space]");
  for (const auto* scheduler : tune::scheduler_table())
    if (!scheduler->options.empty())
      text += head_of(fmt::format("tune.{}", scheduler->name), scheduler->help) + keys_text(scheduler->options);
  return text;
}

}  // namespace trainrt::cli
