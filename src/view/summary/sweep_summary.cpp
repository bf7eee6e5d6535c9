#include "view/summary/sweep_summary.hpp"

#include <algorithm>
#include <set>

namespace trainrt::view {

std::vector<std::string> SweepSummary::keys() const {
  std::set<std::string> keys;
  for (const auto& trial : trials)
    for (const auto& [key, value] : trial.config) keys.insert(key);
  return {keys.begin(), keys.end()};
}

const SweepTrial* SweepSummary::best() const { return trials.empty() || !trials.front().best ? nullptr : &trials.front(); }

void rank(SweepSummary& sweep, std::vector<RunSummary>& runs) {
  std::ranges::stable_sort(sweep.trials, [&](const SweepTrial& one, const SweepTrial& other) {
    if (!one.best || !other.best) return one.best.has_value() && !other.best;
    return sweep.minimize ? *one.best < *other.best : *one.best > *other.best;
  });
  std::map<std::string, std::size_t> ranks;
  for (const auto& trial : sweep.trials) ranks.emplace(trial.name, ranks.size());
  const auto rank_of = [&](const RunSummary& run) {
    const auto found = ranks.find(run.record.name);
    return found == ranks.end() ? ranks.size() : found->second;
  };
  std::ranges::stable_sort(runs, {}, rank_of);
  if (sweep.metric.empty()) return;
  for (auto& run : runs) {
    run.record.spec["checkpoint.score_attribute"] = sweep.metric;
    run.record.spec["checkpoint.score_order"] = sweep.minimize ? "min" : "max";
  }
}

}  // namespace trainrt::view
