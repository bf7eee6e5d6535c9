#include <algorithm>
#include <cmath>
#include <limits>
#include <trainrt/error.hpp>

#include "checkpoint/directory.hpp"
#include "checkpoint/phases.hpp"
#include "io/file.hpp"

namespace trainrt::checkpoint {

namespace {

/// Higher is better; NaN and missing are lowest.
double score(const Meta& meta, const Retention& retention) {
  const auto found = meta.metrics.find(retention.score_attribute);
  if (found == meta.metrics.end() || std::isnan(found->second)) return -std::numeric_limits<double>::infinity();
  return retention.maximize ? found->second : -found->second;
}

}  // namespace

std::vector<std::int64_t> to_delete(const std::vector<Meta>& committed, const Retention& retention) {
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(retention.num_to_keep, 0));
  if (keep == 0 || committed.size() <= keep) return {};
  auto ranked = committed;
  std::sort(ranked.begin(), ranked.end(), [&](const Meta& a, const Meta& b) {
    const auto score_a = score(a, retention);
    const auto score_b = score(b, retention);
    return score_a != score_b ? score_a > score_b : a.index > b.index;
  });
  std::int64_t latest = -1;
  for (const auto& meta : committed) latest = std::max(latest, meta.index);
  std::vector<std::int64_t> indices;
  for (std::size_t i = keep; i < ranked.size(); ++i)
    if (ranked[i].index != latest) indices.push_back(ranked[i].index);
  std::sort(indices.begin(), indices.end());
  return indices;
}

void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention,
            const Observer& observer) {
  // Manifests are read only where something may have to go: a start must not take longer for every old checkpoint.
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(retention.num_to_keep, 0));
  if (keep == 0 || indices_in(run_dir).size() <= keep) return;
  const auto indices = to_delete(list(run_dir), retention);
  if (indices.empty()) return;
  std::vector<std::string> retired;
  for (const auto index : indices) {
    const auto& aside = retired.emplace_back(private_dir + "/deleted_" + directory_name(index));
    io::remove_tree(aside);
    if (!io::rename_to_new(run_dir + "/" + directory_name(index), aside))
      throw Error("cannot delete '" + run_dir + "/" + directory_name(index) + "': '" + aside + "' is in the way");
  }
  io::sync_directory(run_dir);
  observer(Phase::retired);
  for (const auto& aside : retired) io::remove_tree(aside);
  observer(Phase::deleted);
}

void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention) {
  retain(run_dir, private_dir, retention, [](Phase) {});
}

}  // namespace trainrt::checkpoint
