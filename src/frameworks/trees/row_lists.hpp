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

/// Returns whether a field holds a list of numbers in each sample. If all lists have the same length, as in a file with one
/// row, the field is a vector.
inline bool is_list(const Dataset::Field& field) { return field.varies || field.sample_shape.size() == 1; }

/// The lists of a field in the samples of a batch. Refers to the batch, which must outlive it.
class RowLists {
 public:
  RowLists(const Dataset& data, const Batch& batch, const std::string& field);

  TensorView of(std::size_t row) const;  ///< returns a list, with the shape [values]

 private:
  const Batch& batch_;
  std::string field_;
  bool varies_ = true;
  TensorView all_;  ///< the values of all rows, if the field is a vector
};

/// Returns the number of samples whose lists take about `bytes` bytes, with `value_bytes` bytes per value. Estimated from
/// the lengths of some lists.
std::size_t rows_of_lists(const Dataset& data, const SampleRange& part, const std::string& field, std::size_t bytes,
                          std::size_t value_bytes);

/// The source of a column number, for messages, and its limit.
struct ColumnSource {
  std::string_view set;  ///< SET of [data.SET]
  std::string_view field;
  std::uint64_t sample = 0;
  std::uint64_t columns = 0;  ///< limit of the number (exclusive)
  std::string_view limit;     ///< description of `columns`
};

/// Returns whether `value` is an integer from 0 to `columns` - 1. False for NaN, fractions, and numbers that do not fit in
/// 32 bits.
template <class T>
bool is_column(T value, std::uint64_t columns) {
  if constexpr (std::is_floating_point_v<T>)
    return value >= 0 && static_cast<double>(value) < static_cast<double>(columns) && std::trunc(value) == value;
  else
    return value >= 0 && static_cast<std::uint64_t>(value) < columns;
}

/// Throws UsageError for a value that is not a column number.
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
