#include "data/reshape/groups.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "data/batches/field_scan.hpp"
#include "data/reshape/sample_ends.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

namespace {

/// Assigns numbers to keys, in the order of their first occurrence.
class KeyNumbers {
 public:
  std::uint64_t operator[](const std::string& key) {
    const auto [found, is_new] = numbers_.emplace(key, keys_.size());
    if (is_new) keys_.push_back(key);
    return found->second;
  }
  /// Returns a new number that is assigned to no key.
  std::uint64_t unnamed() {
    keys_.emplace_back();
    return keys_.size() - 1;
  }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> keys_;
};

struct ScannedKeys {
  /// The number of each sample's key, from 1. Each rank numbers the keys of the samples that it scanned. The number is
  /// 0 for a sample that is skipped because it cannot be read.
  std::vector<std::int64_t> of_sample;
  std::vector<std::vector<std::string>> keys;  ///< by rank
};

ScannedKeys scan_keys(const DatasetPlan& plan, std::size_t field) {
  KeyNumbers own;
  const auto& key_field = plan.source->fields()[field];
  ScannedKeys found;
  found.of_sample = gather_from_scan(plan, field, "window", [&](const TensorView& values) {
    return static_cast<std::int64_t>(own[key_of(values, key_field)] + 1);
  });
  const auto own_bytes = [&] {
    std::string bytes;
    nlohmann::json::to_cbor(own.keys(), bytes);
    return bytes;
  };
  for (const auto& bytes : plan.team.gather(own_bytes))
    found.keys.push_back(nlohmann::json::from_cbor(bytes).get<std::vector<std::string>>());
  return found;
}

}  // namespace

Groups groups_of(const DatasetPlan& plan, std::size_t field) {
  auto [of_sample, keys] = scan_keys(plan, field);
  KeyNumbers all;
  const auto unread = all.unnamed();
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    std::vector<std::uint64_t> numbers{unread};
    for (const auto& key : keys[rank]) numbers.push_back(all[key]);
    const auto [first, end] = plan.team.share_of(of_sample.size(), static_cast<int>(rank));
    for (auto sample = first; sample < end; ++sample)
      of_sample[sample] = static_cast<std::int64_t>(numbers[static_cast<std::size_t>(of_sample[sample])]);
  }
  std::vector<std::int64_t> sizes(all.keys().size());
  for (const auto group : of_sample) ++sizes[static_cast<std::size_t>(group)];
  Groups groups{ends_of(sizes), {}};
  if (std::ranges::is_sorted(of_sample)) return groups;
  groups.order.resize(of_sample.size());
  std::vector<std::uint64_t> next;
  for (std::size_t group = 0; group < sizes.size(); ++group) next.push_back(begin_of(groups.ends, group));
  for (std::uint64_t sample = 0; sample < of_sample.size(); ++sample)
    groups.order[next[static_cast<std::size_t>(of_sample[sample])]++] = sample;
  return groups;
}

}  // namespace trainrt::data
