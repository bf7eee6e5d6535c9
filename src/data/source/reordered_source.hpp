#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "data/source/source.hpp"

namespace trainrt::data {

/// A source with the fields of another one in a different order: that of a file whose columns are the dataset's, elsewhere.
class ReorderedSource final : public Source {
 public:
  /// `order`: for each field of `source`, its number among `fields`; a permutation.
  ReorderedSource(std::shared_ptr<const Source> source, std::vector<Dataset::Field> fields,
                  const std::vector<std::size_t>& order)
      : source_(std::move(source)), fields_(std::move(fields)), numbers_(order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) numbers_[order[i]] = i;
  }
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  bool is_resident() const override { return source_->is_resident(); }
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
  std::shared_ptr<const Source> source_;
  std::vector<Dataset::Field> fields_;
  std::vector<std::size_t> numbers_;  ///< of each of fields_, in source_
};

}  // namespace trainrt::data
