#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "metrics/sink.hpp"

namespace trainrt::metrics {

namespace {

constexpr std::string_view program = "program";  // name of the sink plug-in for programs, and of its option

bool is_kind(std::string_view name) {
  return std::ranges::any_of(sink_table(), [&](const auto* kind) { return kind->name == name; });
}

/// Returns whether a sink's name may be used in a file name: it has only letters, digits, _ and -.
bool is_valid_in_file_name(std::string_view name) {
  constexpr std::string_view valid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return name.find_first_not_of(valid) == std::string_view::npos;
}

/// Returns the origin of the first key in a section, for the start of an error message.
std::string origin_of(const Options* section) {
  const auto keys = section == nullptr ? std::vector<std::string>() : section->keys();
  return keys.empty() ? "" : section->find(keys.front())->origin + ": ";
}

const SinkKind& kind_of(const std::string& name, const Options* section) try {
  const bool is_program = section != nullptr && section->has(program) && !is_kind(name);
  if (is_program && !is_valid_in_file_name(name))
    throw UsageError(fmt::format("{}invalid sink name '{}'; valid: letters, digits, _ and -", origin_of(section), name));
  return find_plugin(sink_table(), is_program ? program : std::string_view(name), "sink");
} catch (const UsageError& error) {
  if (is_kind(name) || (section != nullptr && section->has(program))) throw;
  throw UsageError(fmt::format("{}{}. To use a program of your own, set [sink.{}] program = COMMAND", origin_of(section),
                               error.what(), name));
}

}  // namespace

std::vector<ChosenSink> choose_sinks(std::span<const std::string> names, const std::map<std::string, Options>& sections) {
  const auto checked_options = [](const std::string& name, const SinkKind& kind, const Options& given) {
    return checked(given, kind.options, "[sink." + name + "]");
  };
  for (const auto& [name, options] : sections) static_cast<void>(checked_options(name, kind_of(name, &options), options));
  std::vector<ChosenSink> chosen;
  for (const auto& name : names) {
    if (std::ranges::any_of(chosen, [&](const ChosenSink& other) { return other.name == name; }))
      throw UsageError("the sink '" + name + "' is named twice");
    const auto section = sections.find(name);
    const auto* given = section == sections.end() ? nullptr : &section->second;
    const auto& kind = kind_of(name, given);
    chosen.push_back({name, &kind, checked_options(name, kind, given == nullptr ? Options() : *given)});
  }
  return chosen;
}

}  // namespace trainrt::metrics
