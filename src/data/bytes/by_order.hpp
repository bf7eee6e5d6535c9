#pragma once
#include <algorithm>
#include <vector>

#include "core/plugin.hpp"

namespace trainrt::data {

/// The records of a table in the order of their places; those of one place by their names.
template <class Record>
std::vector<const Record*> by_order(PluginTable<Record> table) {
  std::vector<const Record*> records(table.begin(), table.end());
  std::ranges::stable_sort(records, {}, &Record::place);
  return records;
}

}  // namespace trainrt::data
