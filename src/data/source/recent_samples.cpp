#include "data/source/recent_samples.hpp"

#include <algorithm>

namespace trainrt::data {

std::vector<RecentSamples::Values> RecentSamples::read(std::span<const std::uint64_t> samples) const {
  std::vector<Values> found;
  std::vector<std::uint64_t> missing;
  for (const auto sample : samples) {
    found.push_back(kept(sample));
    if (!found.back()) missing.push_back(sample);
  }
  if (missing.empty()) return found;
  Column column{field_, {}, {}};
  source_->read(missing, {&column, 1});
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (found[i]) continue;
    const auto* const values = column.values.data();
    const auto first = at == 0 ? 0 : column.ends[at - 1];
    found[i] = std::make_shared<const std::vector<std::byte>>(values + first, values + column.ends[at]);
    keep(samples[i], found[i]);
    ++at;
  }
  return found;
}

RecentSamples::Values RecentSamples::kept(std::uint64_t sample) const {
  const std::lock_guard lock(mutex_);
  const auto at = std::ranges::find(recent_, sample, [](const auto& entry) { return entry.first; });
  if (at == recent_.end()) return nullptr;
  auto entry = std::move(*at);
  recent_.erase(at);
  recent_.push_back(entry);
  return entry.second;
}

void RecentSamples::keep(std::uint64_t sample, const Values& values) const {
  constexpr std::size_t most_kept = 64;  // so that the search stays short
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(recent_, sample, [](const auto& entry) { return entry.first; }) != recent_.end()) return;
  recent_.emplace_back(sample, values);
  bytes_ += values->size();
  while (recent_.size() > most_kept || (recent_.size() > least_kept && bytes_ > most_bytes)) {
    bytes_ -= recent_.front().second->size();
    recent_.pop_front();
  }
}

}  // namespace trainrt::data
