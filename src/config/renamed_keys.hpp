#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/options.hpp"

namespace trainrt::config {

/// A config key with a new name. A `*` in both names matches the NAME of a section: "data.*.most_pixels". The names differ
/// in their last part only, so that a renamed key stays in its section.
struct RenamedKey {
  std::string_view old_name, new_name;
};

/// All keys that were renamed.
std::span<const RenamedKey> renamed_keys();

/// Returns the new name of `key` ("section.key"), or nullopt if `table` does not contain it. Pure function.
std::optional<std::string> new_name_of(std::string_view key, std::span<const RenamedKey> table = renamed_keys());

/// Throws a UsageError that names the origin, the old and the new name of the first renamed key in `options`. `hint` is
/// appended to the message.
void require_not_renamed(const Options& options, std::string_view hint = "");

/// Returns a recorded config with the new names of its keys, for records that an older version wrote.
std::map<std::string, std::string> with_new_names(const std::map<std::string, std::string>& texts);

}  // namespace trainrt::config
