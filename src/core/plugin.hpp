#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt {

/// The table of all plug-ins of one kind, for example of all metric sinks. Each plug-in is one .cpp file in the folder of
/// its kind and defines one `extern const` record, named after the file. The build generates the table, in the order of the
/// file names. A record has at least the members `name` and `help`.
template <class Record>
using PluginTable = std::span<const Record* const>;

template <class Record>
std::vector<std::string> names_of(PluginTable<Record> table) {
  std::vector<std::string> names;
  for (const auto* record : table) names.emplace_back(record->name);
  return names;
}

/// Returns the plug-in named `name`. Throws UsageError, which lists the valid names, if no plug-in has that name. The
/// message calls the plug-in a `kind`, for example "sink".
template <class Record>
const Record& find_plugin(PluginTable<Record> table, std::string_view name, std::string_view kind) {
  for (const auto* record : table)
    if (record->name == name) return *record;
  const auto names = names_of(table);
  throw UsageError("no such " + std::string(kind) + ": '" + std::string(name) + "'" + did_you_mean(name, names) +
                   "; valid names: " + join(names));
}

}  // namespace trainrt
