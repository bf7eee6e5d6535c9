#include "data/section/dataset_section.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/text/text.hpp"
#include "data/reshape/operation.hpp"
#include "data/section/dataset_options.hpp"

namespace trainrt::data {

namespace {

const Format* format_of_name(std::string_view path) {
  for (const auto* format : format_table())
    if (format->is_name_of != nullptr && format->is_name_of(path)) return format;
  return nullptr;
}

/// Throws UsageError if the section has the key `weights` and another key that cannot be combined with it.
void require_mixable(const Options& options) {
  if (options.text("weights").empty()) return;
  if (!options.boolean("shuffle"))
    throw UsageError("weights needs shuffle = true, because the sources are mixed in a shuffled order");
  if (options.integer("block") > 0) throw UsageError("weights and block cannot be combined; remove one of them");
  if (!options.text("subset").empty()) throw UsageError("weights and subset cannot be combined; remove one of them");
  for (const auto& requested : requested_steps(options))
    if (requested.step.effect != Effect::thins)
      throw UsageError(fmt::format("weights and {} cannot be combined; remove one of them", requested.kind->name));
}

}  // namespace

std::string section_of(const std::string& name) { return "[data." + name + "]"; }

std::string located(const std::string& section, const Options& options, const std::string& message) {
  const auto named = message.find(section) == std::string::npos ? section + ": " : "";
  const OptionValue* value = options.find(options.has("source") ? "source" : "format");
  for (const auto& key : options.keys()) {
    const auto* each = options.find(key);
    const auto origin = each->origin + ": ";
    if (message.starts_with(origin)) return origin + named + message.substr(origin.size());
    if (value == nullptr || message.starts_with(key + " ") || message.starts_with(key + ":")) value = each;
  }
  return (value == nullptr || value->origin.empty() ? "" : value->origin + ": ") + named + message;
}

const Format& format_named(const std::string& section, const OptionValue& given) {
  return in_context(fmt::format("{}: format in {}", given.origin, section),
                    [&]() -> const Format& { return find_plugin(format_table(), given.text, "data format"); });
}

const Format& format_of(const std::string& section, const Options& options) {
  if (const auto* given = options.find("format")) return format_named(section, *given);
  const auto source = options.text("source");
  if (const auto* format = format_of_name(source)) return *format;
  const auto first = source.empty() ? source : first_path_of(source);
  if (const auto* format = format_of_name(first)) return *format;
  throw UsageError(
      fmt::format("missing key 'format' in {}{}; valid formats are {}", section,
                  first.empty() ? "" : fmt::format(", and the name of the file '{}' does not determine the format", first),
                  join(names_of(format_table()))));
}

bool has_key(std::span<const OptionSpec> specs, const std::string& key) {
  return std::ranges::any_of(specs, [&](const OptionSpec& spec) {
    return spec.key == key || std::ranges::count(words_in(spec.synonyms), key) > 0;
  });
}

/// Throws UsageError for a key of another format, which is not in `specs`, the keys of a dataset of the format `format`.
/// Accepts a key that is similar to a key in `specs`: it is probably misspelled, and checked() reports it.
void refuse_keys_of_other_formats(const std::string& section, const Options& options, std::span<const OptionSpec> specs,
                                  const Format& format) {
  std::vector<std::string> known;
  for (const auto& spec : specs) known.push_back(spec.key);
  for (const auto& key : options.keys()) {
    if (has_key(specs, key) || !nearest(key, known).empty()) continue;
    std::vector<std::string> others;
    for (const auto* other : format_table())
      if (has_key(other->options, key)) others.emplace_back(other->name);
    if (others.empty()) continue;
    throw UsageError(
        fmt::format("{}: unknown key '{}' in {}: the format {} does not have this key of {}; "
                    "`trainrt list {}` shows the keys of {}",
                    options.find(key)->origin, key, section, format.name, join(others), format.name, format.name));
  }
}

Options checked_options(const std::string& section, const Options& options, const Format& format) {
  require_not_removed(section, options);
  auto specs = common_options();
  specs.insert(specs.end(), format.options.begin(), format.options.end());
  refuse_keys_of_other_formats(section, options, specs, format);
  auto good = checked(options, specs, section);
  in_section(section, [&] { require_mixable(good); });
  if (format.has_files && good.text("source").empty())
    throw UsageError(fmt::format("missing key 'source' in {}: set it to the files of the format {}", section, format.name));
  if (!format.has_files && !good.text("source").empty())
    throw UsageError(fmt::format("{}: the key 'source' in {} is not allowed, because the format {} has no files",
                                 options.find("source")->origin, section, format.name));
  return good;
}

Options checked_options(const std::string& section, const Options& options, const Listing& listing) {
  return checked_options(section, options, format_of(listing));
}

}  // namespace trainrt::data
