#include <algorithm>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/listing/catalog.hpp"
#include "core/text/text.hpp"

namespace trainrt::cli::listing {

namespace {

constexpr std::string_view any_dataset = "data.NAME";

/// Returns the name in "[section]", "section.key" or "--section.key=value". In names of [data.NAME], the dataset's own
/// name is replaced by NAME.
std::string plain_name(std::string_view text) {
  if (text.starts_with("--")) text.remove_prefix(2);
  text = text.substr(0, text.find('='));
  if (text.starts_with('[')) text.remove_prefix(1);
  if (text.ends_with(']')) text.remove_suffix(1);
  const auto name = trim(text);
  if (name == "data") return std::string(any_dataset);
  if (!name.starts_with("data.")) return name;
  const auto end = name.find('.', 5);
  return std::string(any_dataset) + (end == std::string::npos ? "" : name.substr(end));
}

bool is_named(const Entry& entry, const std::string& name) {
  return entry.name == name || (entry.section == name && name != any_dataset && name != "loop");
}

bool is_named(const Entry& entry, const Key& key, const std::string& name) {
  return key.name == name || (!entry.section.empty() && entry.section + "." + key.name == name);
}

/// Returns the names of all entries and keys that resemble `name`: up to 8.
std::string similar_names(std::span<const Kind> kinds, const std::string& name) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& each) {
    if (std::ranges::find(names, each) == names.end()) names.push_back(each);
  };
  for (const auto& kind : kinds)
    for (const auto& entry : kind.entries) {
      add(entry.name);
      for (const auto& key : entry.keys) {
        add(entry.shown_name(key));
        if (name.find('.') == std::string::npos) add(key.name);
      }
    }
  constexpr std::size_t max_nearest = 3, max_shown = 8, min_part = 3;
  std::vector<std::string> similar;
  for (std::size_t i = 0; i < max_nearest; ++i) {
    const auto next = nearest(name, names);
    if (next.empty()) break;
    similar.push_back(next);
    std::erase(names, next);
  }
  if (name.size() >= min_part)
    for (const auto& each : names)
      if (similar.size() < max_shown && each.find(name) != std::string::npos) similar.push_back(each);
  return join(similar);
}

}  // namespace

std::vector<Found> find_named(std::span<const Kind> kinds, std::string_view text) {
  const auto name = plain_name(text);
  std::vector<Found> entries, keys;
  for (const auto& kind : kinds)
    for (const auto& entry : kind.entries) {
      if (is_named(entry, name)) entries.push_back({&kind, &entry, nullptr});
      for (const auto& key : entry.keys)
        if (is_named(entry, key, name)) keys.push_back({&kind, &entry, &key});
    }
  if (!entries.empty()) return entries;
  if (!keys.empty()) return keys;
  const auto similar = similar_names(kinds, name);
  const bool may_be_function = name.find('.') == std::string::npos;
  throw UsageError(fmt::format("unknown name '{}'{}{}; `trainrt list` shows all names{}", excerpt(text, 60),
                               similar.empty() ? "" : "; similar: ", similar,
                               may_be_function ? "; a train function of a library: trainrt list --train.library=FILE.so " +
                                                     shell_quoted(excerpt(name, 60))
                                               : ""));
}

}  // namespace trainrt::cli::listing
