#include "trainer/start/expanded_config.hpp"

#include <set>
#include <span>
#include <string>

#include <fmt/format.h>

#include "config/program_settings.hpp"
#include "config/section.hpp"
#include "core/path_text.hpp"
#include "data/section/dataset_options.hpp"
#include "metrics/sink.hpp"
#include "trainer/events/callback_kind.hpp"

namespace trainrt::trainer {

namespace {

constexpr std::string_view data_prefix = "data.";

void add_paths(std::set<std::string>& keys, const std::string& prefix, std::span<const OptionSpec> options) {
  for (const auto& option : options)
    if (option.type == OptionType::path) keys.insert(prefix + option.key);
}

/// Returns all config keys of type path, except for keys of [data.NAME] and [loop].
std::set<std::string> path_keys() {
  std::set<std::string> keys;
  add_paths(keys, "", config::declared_options());
  for (const auto* sink : metrics::sink_table()) add_paths(keys, fmt::format("sink.{}.", sink->name), sink->options);
  for (const auto* callback : callback_table())
    add_paths(keys, fmt::format("callback.{}.", callback->name), callback->options);
  return keys;
}

bool names_files(const std::string& key, const std::string& text) {
  static const auto paths = path_keys();
  if (!key.starts_with(data_prefix)) return paths.contains(key);
  const auto dot = key.find('.', data_prefix.size());
  return dot != std::string::npos && data::names_files(key.substr(dot + 1), text);
}

}  // namespace

Options expanded_config(const Options& given, const Environment& environment) {
  auto expanded = given;
  for (const auto& key : given.keys())
    if (const auto& value = *given.find(key); names_files(key, value.text))
      expanded.set(key, expanded_path(key, value, environment));
  return expanded;
}

std::map<std::string, std::string> expanded_settings(const std::map<std::string, std::string>& settings,
                                                     const Environment& environment) {
  Options given;
  for (const auto& [key, text] : settings) given.set(key, {text, std::string(config::origin_of_program)});
  return expanded_config(given, environment).texts();
}

Options written_config(const Options& expanded) {
  auto written = expanded;
  for (const auto& key : expanded.keys())
    if (const auto& value = *expanded.find(key); names_files(key, value.text))
      written.set(key, {written_path(value.text), value.origin});
  return written;
}

}  // namespace trainrt::trainer
