#pragma once
#include <utility>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source with the fields of another source in a different order. Used for a file that has its fields in a different
/// order than the dataset.
class ReorderedSource final : public WrappedSource {
 public:
  /// `fields` are the fields in the new order: field `i` of `source` becomes field `order[i]`. `order` is a permutation.
  ReorderedSource(std::shared_ptr<const Source> source, std::vector<Dataset::Field> fields,
                  const std::vector<std::size_t>& order)
      : WrappedSource(std::move(source)), fields_(std::move(fields)), numbers_(order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) numbers_[order[i]] = i;
  }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const override {
    std::vector<Column> read;
    for (auto& column : columns) read.push_back({numbers_[column.field], std::move(column.values), std::move(column.ends)});
    source_->read(samples, read);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].values = std::move(read[i].values);
      columns[i].ends = std::move(read[i].ends);
    }
  }

 private:
  std::vector<Dataset::Field> fields_;
  std::vector<std::size_t> numbers_;  ///< for each of fields_, its index in source_
};

}  // namespace trainrt::data
