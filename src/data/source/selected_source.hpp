#pragma once
#include <memory>
#include <utility>

#include "data/source/source.hpp"

namespace trainrt::data {

/// Some rows of another source, under numbers of their own. Rows: RowRanges or RowBitmap, as pure as the source is.
template <class Rows>
class SelectedSource final : public Source {
 public:
  /// All of `rows` are in `source`.
  SelectedSource(std::shared_ptr<const Source> source, Rows rows) : source_(std::move(source)), rows_(std::move(rows)) {}
  std::uint64_t size() const override { return rows_.size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  bool is_resident() const override { return source_->is_resident(); }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<std::uint64_t> rows;
    rows.reserve(samples.size());
    for (const auto sample : samples) rows.push_back(rows_[sample]);
    source_->read(rows, columns);
  }

 private:
  std::shared_ptr<const Source> source_;
  Rows rows_;
};

}  // namespace trainrt::data
