#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt {

/// What varies is a plug-in: one .cpp in a folder that defines one `extern const` record, named after its file. The build
/// lists the folder and generates the table, in the order of the file names; every record has at least `name` and `help`.
template <class Record>
using PluginTable = std::span<const Record* const>;

template <class Record>
std::vector<std::string> names_of(PluginTable<Record> table) {
  std::vector<std::string> names;
  for (const auto* record : table) names.emplace_back(record->name);
  return names;
}

/// The record of that name; a UsageError that lists the valid names otherwise. `kind` is the word for it in the message.
template <class Record>
const Record& find_plugin(PluginTable<Record> table, std::string_view name, std::string_view kind) {
  for (const auto* record : table)
    if (record->name == name) return *record;
  const auto names = names_of(table);
  throw UsageError("no such " + std::string(kind) + ": '" + std::string(name) + "'" + did_you_mean(name, names) +
                   "; there are: " + join(names));
}

}  // namespace trainrt
