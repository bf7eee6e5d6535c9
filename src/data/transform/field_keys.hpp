#pragma once
#include <string>
#include <vector>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/options.hpp"
#include "data/bytes/by_order.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

// Keys of [data.NAME] that change fields: the keys of transforms and augmentations. Their values have the form "FIELD:
// ARGUMENTS, FIELD: ARGUMENTS".

/// Returns the key of each plug-in in `table`.
template <class Record>
std::vector<OptionSpec> field_keys(PluginTable<Record> table) {
  std::vector<OptionSpec> keys;
  for (const auto* record : table)
    keys.push_back({.key = std::string(record->name),
                    .default_value = "",
                    .help = std::string(record->help),
                    .form = fmt::format("FIELD: {}; separate several fields by commas", record->arguments)});
  return keys;
}

/// Returns the number of the field `name`. Throws UsageError if it does not exist, or if its samples vary in length.
inline std::size_t find_fixed_field(const std::vector<Dataset::Field>& fields, std::string_view name) {
  const auto number = find_field(fields, name);
  if (fields[number].varies)
    throw UsageError(fmt::format("field {} varies in length; this key changes only fields of one length", name));
  return number;
}

/// Calls `add(record, field, arguments)` for each field in the keys that `options` set. The keys are those of the
/// plug-ins in `table`, in the order of the plug-ins. If `add` throws UsageError, puts the origin of the key and the
/// key in front of its message.
template <class Record, class Add>
void for_each_field_key(PluginTable<Record> table, const Options& options, const Add& add) {
  for (const auto* record : by_order(table)) try {
      for (const auto& [field, arguments] : field_specs(options.text(record->name), record->arguments))
        add(*record, field, arguments);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}: {}", options.find(record->name)->origin, record->name, error.what()));
    }
}

}  // namespace trainrt::data
