#include "view/curves/comparison.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace trainrt::view {

std::vector<std::string> differing_keys(std::span<const RunSummary> runs) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& run : runs)
    for (const auto& [key, value] : run.record.loop) values[key].insert(value);
  std::vector<std::string> keys;
  for (const auto& [key, all] : values) {
    const bool everywhere = std::ranges::all_of(runs, [&](const auto& run) { return run.record.loop.contains(key); });
    if ((all.size() > 1 || !everywhere) && !describes_script(key)) keys.push_back(key);
  }
  return keys;
}

bool describes_script(const std::string& key) {
  return key.starts_with("train_loop_per_worker") || key == "train_loop_config";
}

std::vector<std::string> metric_names(std::span<const RunSummary> runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    if (const auto* last = run.last())
      for (const auto& [key, value] : last->values)
        if (!key.starts_with("_") && std::ranges::find(names, key) == names.end()) names.push_back(key);
  return names;
}

const metrics::Record* shown_report_of(const RunSummary& run) { return run.best() != nullptr ? run.best() : run.last(); }

}  // namespace trainrt::view
