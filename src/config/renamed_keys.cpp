#include "config/renamed_keys.hpp"

#include <array>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::config {

namespace {

constexpr std::array renamed{
    RenamedKey{"checkpoint.replicas", "checkpoint.replica_check"},
    RenamedKey{"checkpoint.replicas_every", "checkpoint.replica_check_every"},
    RenamedKey{"data.*.fit", "data.*.resize_mode"},
    RenamedKey{"data.*.keep", "data.*.subset_after"},
    RenamedKey{"data.*.longest_record", "data.*.max_record_bytes"},
    RenamedKey{"data.*.most_bytes", "data.*.max_file_bytes"},
    RenamedKey{"data.*.most_pixels", "data.*.max_pixels"},
    RenamedKey{"data.*.read", "data.*.read_method"},
    RenamedKey{"data.*.rows", "data.*.subset"},
    RenamedKey{"scaling.check", "scaling.check_collectives"},
};

/// Returns the part of `key` up to and including the last dot: "data.train." for "data.train.format"; "" if there is no
/// dot.
std::string_view section_of(std::string_view key) { return key.substr(0, key.rfind('.') + 1); }

bool matches(std::string_view key, std::string_view pattern) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return key == pattern;
  const auto head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (key.size() <= head.size() + tail.size() || !key.starts_with(head) || !key.ends_with(tail)) return false;
  const auto name = key.substr(star, key.size() - head.size() - tail.size());
  return name.find('.') == std::string_view::npos;
}

}  // namespace

std::span<const RenamedKey> renamed_keys() { return renamed; }

std::optional<std::string> new_name_of(std::string_view key, std::span<const RenamedKey> table) {
  for (const auto& row : table)
    if (matches(key, row.old_name))
      return fmt::format("{}{}", section_of(key), row.new_name.substr(section_of(row.new_name).size()));
  return std::nullopt;
}

void require_not_renamed(const Options& options, std::string_view hint) {
  for (const auto& key : options.keys())
    if (const auto name = new_name_of(key))
      throw UsageError(fmt::format("{}: the key {} is now named {}{}", options.find(key)->origin, key, *name, hint));
}

std::map<std::string, std::string> with_new_names(const std::map<std::string, std::string>& texts) {
  std::map<std::string, std::string> renamed_texts;
  for (const auto& [key, text] : texts) renamed_texts.emplace(new_name_of(key).value_or(key), text);
  return renamed_texts;
}

}  // namespace trainrt::config
