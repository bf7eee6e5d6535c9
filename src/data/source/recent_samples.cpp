#include "data/source/recent_samples.hpp"

#include <algorithm>

namespace trainrt::data {

std::vector<RecentSamples::Values> RecentSamples::read(std::span<const std::uint64_t> samples) const {
  std::vector<Values> found;
  std::vector<std::uint64_t> missing;
  for (const auto sample : samples)
    if (!found.emplace_back(find(sample))) missing.push_back(sample);
  if (missing.empty()) return found;
  Column column{field_, {}, {}};
  source_->read(missing, {&column, 1});
  std::size_t at = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (found[i]) continue;
    const auto values = column.varying(at++);
    found[i] = std::make_shared<const std::vector<std::byte>>(values.begin(), values.end());
    keep(samples[i], found[i]);
  }
  return found;
}

RecentSamples::Values RecentSamples::find(std::uint64_t sample) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(recent_, sample, &std::pair<std::uint64_t, Values>::first);
  if (found == recent_.end()) return nullptr;
  std::rotate(found, found + 1, recent_.end());
  return recent_.back().second;
}

void RecentSamples::keep(std::uint64_t sample, const Values& values) const {
  const std::lock_guard lock(mutex_);
  const auto is_kept = [&](const auto& entry) { return entry.first == sample; };
  if (std::ranges::any_of(recent_, is_kept)) return;  // another thread has read the sample in the meantime
  recent_.emplace_back(sample, values);
  bytes_ += values->size();
  while (recent_.size() > max_kept || (recent_.size() > min_kept && bytes_ > max_bytes)) {
    bytes_ -= recent_.front().second->size();
    recent_.pop_front();
  }
}

}  // namespace trainrt::data
