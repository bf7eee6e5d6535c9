#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// The values of one field of some samples, one sample after another.
struct Column {
  std::size_t field = 0;  ///< index of the field
  std::vector<std::byte> values;
  std::vector<std::uint64_t>
      ends;  ///< end of each sample's bytes in `values`, if the field varies in length; otherwise empty

  /// Returns the values of sample `i` of a field that varies in length.
  std::span<const std::byte> varying(std::size_t i) const {
    const auto first = i == 0 ? 0 : ends[i - 1];
    return std::span(values).subspan(first, ends[i] - first);
  }
  /// Appends a sample to the column of a field that varies in length.
  void append(std::span<const std::byte> sample) {
    values.insert(values.end(), sample.begin(), sample.end());
    ends.push_back(values.size());
  }
  void clear() {
    values.clear();
    ends.clear();
  }
};

/// Returns the number of bytes of one sample of a field of fixed length.
inline std::size_t sample_bytes(const Dataset::Field& field) {
  return static_cast<std::size_t>(element_count(field.sample_shape)) * size_of(field.dtype);
}

/// Returns the indices of `count` consecutive samples: `first`, `first` + 1, and so on.
inline std::vector<std::uint64_t> consecutive(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

/// Returns one pointer per field: the field's column in `columns`, or nullptr if the field is not requested. `fields` is
/// the number of fields.
inline std::vector<Column*> requested_columns(std::span<Column> columns, std::size_t fields) {
  std::vector<Column*> found(fields, nullptr);
  for (auto& column : columns)
    if (column.field < fields && found[column.field] == nullptr) found[column.field] = &column;
  return found;
}

/// Random access to the samples of a dataset by index. Immutable. Thread-safe.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  virtual const std::vector<Dataset::Field>& fields() const = 0;
  /// Reads the samples with the indices `samples`, in this order. Replaces the content of each column by the values that
  /// these samples have for the column's field. Throws Error, with the file, the position and the reason, if the values
  /// cannot be read.
  virtual void read(std::span<const std::uint64_t> samples, std::span<Column> columns) const = 0;
  /// Returns whether all values are in memory, so that reading ahead would not save time.
  virtual bool is_resident() const { return false; }
};

/// Base class of sources that read from another source. A function that is not overridden calls the function of `source`.
class WrappedSource : public Source {
 public:
  explicit WrappedSource(std::shared_ptr<const Source> source) : source_(std::move(source)) {}
  std::uint64_t size() const override { return source_->size(); }
  const std::vector<Dataset::Field>& fields() const override { return source_->fields(); }
  bool is_resident() const override { return source_->is_resident(); }

 protected:
  std::shared_ptr<const Source> source_;
};

}  // namespace trainrt::data
