#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>
#include <trainrt/dataset.hpp>

#include "frameworks/trees/categories.hpp"
#include "frameworks/trees/values.hpp"

namespace trainrt::frameworks::trees {

/// Returns whether a field holds a list of numbers in each sample: lists of different lengths, or vectors of equal length.
inline bool is_list(const Dataset::Field& field) { return field.varies || field.sample_shape.size() == 1; }

/// The values of a list field in each sample of a batch. The batch must outlive this object.
class RowLists {
 public:
  RowLists(const Dataset& data, const Batch& batch, const std::string& field);

  TensorView of(std::size_t row) const;  ///< returns the list of sample `row` of the batch; shape: [number of values]

 private:
  const Batch& batch_;
  std::string field_;
  bool varies_ = true;
  TensorView all_;  ///< the values of all samples, if the field is a vector
};

/// Returns an estimate of the number of samples whose lists fit in `bytes` bytes. `value_bytes`: bytes per value. The
/// estimate is computed from the lengths of some lists.
std::size_t rows_of_lists(const Dataset& data, const SampleRange& part, const std::string& field, std::size_t bytes,
                          std::size_t value_bytes);

/// The dataset, field and sample of a column number, for messages, and the limit of the number.
struct ColumnSource {
  std::string_view set;  ///< SET of [data.SET]
  std::string_view field;
  std::uint64_t sample = 0;
  std::uint64_t columns = 0;  ///< limit of the number (exclusive)
  std::string_view limit;     ///< text in messages that explains `columns`
};

/// Returns whether `value` is an integer from 0 to `columns` - 1. Returns false for NaN and fractions.
template <class T>
bool is_column(T value, std::uint64_t columns) {
  if constexpr (std::is_floating_point_v<T>)
    return value >= 0 && static_cast<double>(value) < static_cast<double>(columns) && std::trunc(value) == value;
  else
    return value >= 0 && static_cast<std::uint64_t>(value) < columns;
}

/// Throws a UsageError that reports that `value` is not a column number.
[[noreturn]] void refuse_column(const ColumnSource& source, const std::string& value);

/// Calls take(std::int32_t) with each column number of a list. Throws UsageError for a value that is not a column number.
template <class Take>
void for_each_column(const TensorView& list, const ColumnSource& source, const Take& take) {
  with_values(list, [&](const auto* values) {
    for (std::int64_t k = 0; k < list.shape[0]; ++k) {
      if (!is_column(values[k], source.columns)) refuse_column(source, fmt::format("{}", values[k]));
      take(static_cast<std::int32_t>(values[k]));
    }
  });
}

}  // namespace trainrt::frameworks::trees
