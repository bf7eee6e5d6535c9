#include "cli/config_page.hpp"

#include <span>
#include <sstream>

#include <fmt/format.h>

#include "config/section.hpp"
#include "config/stop_rules.hpp"
#include "data/dataset_options.hpp"
#include "data/format.hpp"
#include "metrics/sink.hpp"
#include "trainer/callback_kind.hpp"
#include "tune/scheduler.hpp"
#include "tune/sweep_keys.hpp"

namespace trainrt::cli {

namespace {

constexpr std::size_t page_width = 120;

/// In lines that begin with "# ".
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

/// Its help and what is valid, and the key itself: set to its default, to be filled in if it is required, commented out if
/// it has neither or is not wanted.
std::string key_text(const OptionSpec& option, Shown shown) {
  const auto facts = facts_of({.key = option.key,
                               .type = option.type,
                               .default_value = "",  // it is the value
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

std::string config_page() {
  std::string text =
      "# Every key of a config with its default. Keys that have none are commented out, but for the two that are required. "
      "On\n"
      "# the command line --section.key=value beats what stands here.\n"
      "# In a path ${NAME} stands for the environment variable NAME, and $$ for one $. $NAME and ~ are errors.\n";
  for (const auto* section : config::sections()) {
    text += head_of(section->name, section->help);
    for (const auto& key : section->keys) text += key_text(key.option, Shown::set);
  }
  text += head_of("loop", "the train function's own keys, which `trainrt list` shows");
  text += head_of("stop", "when the run is done before its train function says so") + keys_text(config::stop_options());
  text += head_of("data.NAME", "a dataset; any number of them") + keys_text(data::common_options());
  for (const auto* format : data::format_table())
    text += fmt::format("\n# [data.NAME] of the format {}: {}\n", format->name, format->help) + keys_text(format->options);
  for (const auto* sink : metrics::sink_table())
    if (!sink->options.empty()) text += head_of(fmt::format("sink.{}", sink->name), sink->help) + keys_text(sink->options);
  for (const auto* callback : trainer::callback_table())
    text += head_of(fmt::format("callback.{}", callback->name), callback->help) + keys_text(callback->options);
  text += head_of("tune", "a search over hyperparameters, which `trainrt tune` runs; a run has none of it") +
          keys_text(tune::sweep_options());
  text += head_of("tune.space", "what trials set: lr = loguniform(1e-4, 1e-1)");
  text += head_of("tune.mutations", "what clones of pbt change, if that is not all that trials draw");
  for (const auto* scheduler : tune::scheduler_table())
    if (!scheduler->options.empty())
      text += head_of(fmt::format("tune.{}", scheduler->name), scheduler->help) + keys_text(scheduler->options);
  return text;
}

}  // namespace trainrt::cli
