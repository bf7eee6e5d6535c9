#include "config/section.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::config {

std::vector<const Section*> sections() {
  const auto table = section_table();
  std::vector<const Section*> sorted(table.begin(), table.end());
  std::ranges::sort(sorted, {}, &Section::order);
  return sorted;
}

std::vector<OptionSpec> declared_options() {
  std::vector<OptionSpec> options;
  for (const auto* section : sections())
    for (const auto& key : section->keys) options.push_back(key.option);
  return options;
}

void require_section(const std::string& section, const std::string& origin) {
  std::vector<std::string> names;
  for (const auto* each : sections()) names.emplace_back(each->name);
  names.insert(names.end(), {"loop", "data", "stop", "sink", "callback", "tune"});  // their keys are declared elsewhere
  const auto end = std::min(section.find('.'), section.size());
  const auto name = section.substr(0, end);
  if (std::ranges::find(names, name) != names.end()) return;
  const auto near = nearest(name, names);
  throw UsageError(fmt::format("{}: unknown section [{}]{}; valid sections: {}", origin, section,
                               near.empty() ? "" : fmt::format(" (did you mean [{}{}]?)", near, section.substr(end)),
                               join(names)));
}

void refuse_key(const Options& options, std::string_view key, std::string_view text) {
  throw UsageError(fmt::format("{}: {} {}", options.find(key)->origin, key, text));
}

std::vector<std::string> names_in(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= 200 && text.front() != '.' && text.find('/') == std::string_view::npos &&
         std::ranges::all_of(text, [](unsigned char c) { return c >= ' '; });
}

}  // namespace trainrt::config
