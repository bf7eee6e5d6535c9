#pragma once
#include <algorithm>
#include <vector>

#include "core/plugin.hpp"

namespace trainrt::data {

/// Returns the plug-ins in a table, sorted by their member `order`, then by name.
template <class Record>
std::vector<const Record*> by_order(PluginTable<Record> table, int Record::*order = &Record::order) {
  std::vector<const Record*> records(table.begin(), table.end());
  std::ranges::stable_sort(records, {}, order);
  return records;
}

}  // namespace trainrt::data
