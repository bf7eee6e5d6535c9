#include "checkpoint/save/retention.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/format/validation.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

namespace {

/// Returns the score of a checkpoint; a higher score is better. Returns nullopt, which is less than any number, if the
/// metric is NaN or missing.
std::optional<double> score(const Meta& meta, const Retention& retention) {
  const auto found = meta.metrics.find(retention.score_attribute);
  if (found == meta.metrics.end() || std::isnan(found->second)) return std::nullopt;
  return retention.maximize ? found->second : -found->second;
}

struct SortedOut {
  std::vector<Meta> good;
  std::vector<std::int64_t> damaged;
};

/// Reads the manifests of the checkpoints `numbers`, and divides the checkpoints into intact and damaged ones.
/// `known_as_damaged`: checkpoints that a load found damaged.
SortedOut sort_out(const std::string& run_dir, const std::set<std::int64_t>& numbers,
                   const std::vector<std::int64_t>& known_as_damaged) {
  SortedOut sorted;
  for (const auto number : numbers) try {
      const auto directory = run_dir + "/" + directory_name(number);
      const auto meta = with_validation(read_manifest(directory).meta, directory);
      const bool is_good = meta.number == number && std::ranges::count(known_as_damaged, number) == 0;
      is_good ? sorted.good.push_back(meta) : sorted.damaged.push_back(number);
    } catch (const io::StorageError&) {
      // The manifest cannot be read, possibly because the storage failed. The checkpoint counts as damaged only if a load
      // found it damaged.
      if (std::ranges::count(known_as_damaged, number) > 0) sorted.damaged.push_back(number);
    } catch (const Error&) {
      sorted.damaged.push_back(number);
    }
  return sorted;
}

/// Returns whether checkpoint `a` ranks before `b`: a better score, or the same score and a higher number.
bool is_better(const Meta& a, const Meta& b, const Retention& retention) {
  const auto score_a = score(a, retention);
  const auto score_b = score(b, retention);
  return score_a != score_b ? score_a > score_b : a.number > b.number;
}

}  // namespace

std::vector<Meta> best_first(std::vector<Meta> good, const Retention& retention) {
  std::ranges::sort(good, [&](const Meta& a, const Meta& b) { return is_better(a, b, retention); });
  return good;
}

std::vector<std::int64_t> to_delete(const std::vector<Meta>& good, const Retention& retention,
                                    const std::vector<std::int64_t>& damaged) {
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(retention.num_to_keep, 0));
  if (keep == 0 || good.size() < keep) return {};
  std::int64_t latest = -1;
  for (const auto& meta : good) latest = std::max(latest, meta.number);
  const auto is_extra = [&](const Meta& meta) {
    return meta.at_stop && !(retention.score_attribute.empty() && meta.number == latest);
  };
  auto ranked = good;
  // Checkpoints that await a validation have no final score yet. They are kept, and do not count as one of num_to_keep.
  if (!retention.score_attribute.empty()) std::erase_if(ranked, [](const Meta& meta) { return meta.awaits_validation; });
  std::sort(ranked.begin(), ranked.end(), [&](const Meta& a, const Meta& b) {
    return is_extra(a) != is_extra(b) ? is_extra(b) : is_better(a, b, retention);
  });
  std::vector<std::int64_t> numbers;
  for (std::size_t i = keep; i < ranked.size(); ++i)
    if (ranked[i].number != latest && !ranked[i].awaits_validation) numbers.push_back(ranked[i].number);
  for (const auto number : damaged)
    if (number < latest) numbers.push_back(number);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

const Meta* best_of(const std::vector<Meta>& good, const Retention& retention) {
  const Meta* best = nullptr;
  for (const auto& meta : good)
    if (score(meta, retention) && (best == nullptr || is_better(meta, *best, retention))) best = &meta;
  return best;
}

void retain(const std::string& run_dir, const std::string& private_dir, const Retention& retention,
            std::set<std::int64_t>& known, const std::vector<std::int64_t>& damaged, const Observer& observer) {
  // Manifests are read only if there are more than num_to_keep checkpoints, because reading many manifests is slow.
  const auto keep = static_cast<std::size_t>(std::max<std::int64_t>(retention.num_to_keep, 0));
  if (keep == 0 || known.size() <= keep) return;
  const auto sorted = sort_out(run_dir, known, damaged);
  const auto numbers = to_delete(sorted.good, retention, sorted.damaged);
  if (numbers.empty()) return;
  std::vector<std::string> retired;
  for (const auto number : numbers) {
    const auto& aside = retired.emplace_back(private_dir + "/deleted_" + directory_name(number));
    io::remove_tree(aside);
    if (!io::rename_to_new(run_dir + "/" + directory_name(number), aside))
      throw Error("cannot delete '" + run_dir + "/" + directory_name(number) + "': '" + aside + "' exists");
    known.erase(number);
  }
  io::sync_directory(run_dir);
  observer(Phase::retired);
  for (const auto& aside : retired) io::remove_tree(aside);
  observer(Phase::deleted);
}

}  // namespace trainrt::checkpoint
