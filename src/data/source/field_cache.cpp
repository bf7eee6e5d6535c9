#include "data/source/field_cache.hpp"

#include <algorithm>

#include "data/source/row_source.hpp"

namespace trainrt::data {

FieldCache::FieldCache(std::shared_ptr<const Source> source, std::uint64_t max_bytes)
    : WrappedSource(std::move(source)), kept_(fields().size()) {
  std::vector<std::pair<std::uint64_t, std::size_t>> candidates;  // size in bytes, and index of the field
  for (std::size_t field = 0; field < fields().size(); ++field)
    if (!fields()[field].varies && sample_bytes(fields()[field]) <= max_bytes / std::max<std::uint64_t>(1, size()))
      candidates.emplace_back(sample_bytes(fields()[field]) * size(), field);
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [bytes, field] : candidates) {
    if (bytes > max_bytes - bytes_) break;
    bytes_ += bytes;
    kept_[field] = std::make_unique<Kept>();
  }
}

void FieldCache::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns)
    if (kept_[column.field])
      read_kept(samples, column);
    else
      source_->read(samples, {&column, 1});
}

void FieldCache::read_kept(std::span<const std::uint64_t> samples, Column& column) const {
  auto& kept = *kept_[column.field];
  if (const std::lock_guard lock(kept.mutex); !kept.is_read) {
    Column complete{column.field, {}, {}};
    source_->read(consecutive(0, size()), {&complete, 1});
    kept.column = std::move(complete);
    kept.is_read = true;
  }
  copy_samples(kept.column, fields()[column.field], samples, column);
}

}  // namespace trainrt::data
