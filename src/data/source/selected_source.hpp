#pragma once
#include <utility>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source with a subset of the samples of another source. The samples have new indices from 0. `Rows` (RowRanges or
/// RowBitmap) maps each new index to an index in the other source.
template <class Rows>
class SelectedSource final : public WrappedSource {
 public:
  /// Precondition: each element of `rows` is the index of a sample in `source`, less than source->size().
  SelectedSource(std::shared_ptr<const Source> source, Rows rows)
      : WrappedSource(std::move(source)), rows_(std::move(rows)) {}
  std::uint64_t size() const override { return rows_.size(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<std::uint64_t> rows;
    rows.reserve(samples.size());
    for (const auto sample : samples) rows.push_back(rows_[sample]);
    source_->read(rows, columns);
  }

 private:
  Rows rows_;
};

}  // namespace trainrt::data
