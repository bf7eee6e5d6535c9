#include "data/reshape/groups.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "data/batches/field_walk.hpp"
#include "data/batches/new_samples.hpp"
#include "data/text/key_text.hpp"

namespace trainrt::data {

namespace {

/// Keys by the numbers that they get in the order in which they come.
class KeyNumbers {
 public:
  std::uint64_t operator[](const std::string& key) {
    const auto [place, is_new] = numbers_.emplace(key, keys_.size());
    if (is_new) keys_.push_back(key);
    return place->second;
  }
  /// A number that no key has.
  std::uint64_t unnamed() {
    keys_.emplace_back();
    return keys_.size() - 1;
  }
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  std::unordered_map<std::string, std::uint64_t> numbers_;
  std::vector<std::string> keys_;
};

std::string bytes_of_keys(const std::vector<std::string>& keys) {
  auto all = nlohmann::json::array();
  for (const auto& key : keys) all.push_back(nlohmann::json::binary({key.begin(), key.end()}));
  const auto bytes = nlohmann::json::to_cbor(all);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> keys_of_bytes(const std::string& bytes) {
  std::vector<std::string> keys;
  for (const auto& key : nlohmann::json::from_cbor(bytes)) {
    const auto& binary = key.get_binary();
    keys.emplace_back(binary.begin(), binary.end());
  }
  return keys;
}

/// The group of each sample, from 1 on, as each rank has numbered those of its part; 0 if the sample cannot be read and is
/// skipped.
struct RankedGroups {
  std::vector<std::int64_t> of_sample;
  std::vector<std::vector<std::string>> keys;  ///< by rank
};

RankedGroups look_at_keys(const DatasetImpl& dataset, std::size_t field) {
  KeyNumbers mine;
  const auto& key_field = dataset.source->fields()[field];
  RankedGroups found;
  found.of_sample = seen_together(dataset, field, "window", [&](const TensorView& values) {
    return static_cast<std::int64_t>(mine[key_of(values, key_field)] + 1);
  });
  for (const auto& bytes : dataset.team.gather([&] { return bytes_of_keys(mine.keys()); }))
    found.keys.push_back(keys_of_bytes(bytes));
  return found;
}

}  // namespace

Groups groups_of(const DatasetImpl& dataset, std::size_t field) {
  auto [of_sample, keys] = look_at_keys(dataset, field);
  KeyNumbers all;
  const auto unread = all.unnamed();
  for (std::size_t rank = 0; rank < keys.size(); ++rank) {
    std::vector<std::uint64_t> numbers{unread};
    for (const auto& key : keys[rank]) numbers.push_back(all[key]);
    Team team;
    team.rank = static_cast<int>(rank);
    team.size = dataset.team.size;
    const auto [first, end] = part_of_team(of_sample.size(), team);
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
