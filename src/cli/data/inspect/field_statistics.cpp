#include "cli/data/inspect/field_statistics.hpp"

#include <algorithm>

#include "cli/data/opened_data.hpp"
#include "cli/data/value_text.hpp"
#include "io/files/digest.hpp"

namespace trainrt::cli::datasets {

void DistinctValues::add(std::span<const std::byte> value, std::uint64_t times) {
  if (is_full_) return;
  constexpr std::size_t max_key = 256;  // limits the memory for long texts
  std::string key(reinterpret_cast<const char*>(value.data()), std::min(value.size(), max_key));
  if (value.size() > max_key) key += io::digest_of(value);
  const auto found = counts_.find(key);
  if (found != counts_.end())
    found->second += times;
  else if (counts_.size() == max)
    is_full_ = true;
  else
    counts_.emplace(std::move(key), times);
}

void DistinctValues::merge(const DistinctValues& others) {
  is_full_ = is_full_ || others.is_full_;
  for (const auto& [value, times] : others.counts_) add(std::as_bytes(std::span(value)), times);
}

std::vector<std::pair<std::string, std::uint64_t>> DistinctValues::by_frequency() const {
  std::vector<std::pair<std::string, std::uint64_t>> all(counts_.begin(), counts_.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  return all;
}

FieldStatistics::FieldStatistics(const Dataset::Field& field)
    : field_(field), elements_(field.dtype), lengths_(DType::i64) {
  if (is_text() || (!field.varies && field.sample_shape.empty())) distinct_.emplace();
}

void FieldStatistics::add(const data::Column& column, std::uint64_t samples) {
  samples_ += samples;
  if (!is_text()) elements_.add(column.values);
  if (field_.varies) {
    std::vector<std::int64_t> lengths;
    for (std::uint64_t i = 0; i < samples; ++i)
      lengths.push_back(static_cast<std::int64_t>(sample_of(field_, column, i).size() / size_of(field_.dtype)));
    empty_ += static_cast<std::uint64_t>(std::count(lengths.begin(), lengths.end(), 0));
    lengths_.add(std::as_bytes(std::span(lengths)));
  }
  if (distinct_ && distinct_->is_complete()) add_distinct(column, samples);
}

void FieldStatistics::add_distinct(const data::Column& column, std::uint64_t samples) {
  const bool may_be_nan = !is_text();
  for (std::uint64_t i = 0; i < samples && distinct_->is_complete(); ++i) {
    const auto sample = sample_of(field_, column, i);
    if (may_be_nan && is_nan(sample.data(), field_.dtype)) continue;
    distinct_->add(sample);
  }
}

void FieldStatistics::merge(const FieldStatistics& later) {
  samples_ += later.samples_;
  empty_ += later.empty_;
  elements_.merge(later.elements_);
  lengths_.merge(later.lengths_);
  if (distinct_) distinct_->merge(*later.distinct_);
}

std::optional<TensorStatistics> FieldStatistics::elements() const {
  if (is_text()) return std::nullopt;
  return elements_.result();
}

std::optional<TensorStatistics> FieldStatistics::lengths() const {
  if (!field_.varies) return std::nullopt;
  return lengths_.result();
}

}  // namespace trainrt::cli::datasets
