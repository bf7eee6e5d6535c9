#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/options.hpp"

namespace trainrt::config {

/// Old and new name of a config key that was renamed. A `*` in both names matches the NAME of a section:
/// "data.*.most_pixels". The names differ only after the last dot, so a renamed key stays in its section.
struct RenamedKey {
  std::string_view old_name, new_name;
};

/// Returns all config keys that were renamed.
std::span<const RenamedKey> renamed_keys();

/// Returns the new name of the config key `key` ("section.key"), or nullopt if it was not renamed according to `table`.
/// Pure function.
std::optional<std::string> new_name_of(std::string_view key, std::span<const RenamedKey> table = renamed_keys());

/// Throws UsageError if `options` contain a key that was renamed. The message names the origin of the first such key, its
/// old and its new name, and ends with `hint`.
void require_not_renamed(const Options& options, std::string_view hint = "");

/// Returns the recorded config of a run with all renamed keys replaced by their new names. It is used for records that an
/// older version of trainrt wrote.
std::map<std::string, std::string> with_new_names(const std::map<std::string, std::string>& texts);

}  // namespace trainrt::config
