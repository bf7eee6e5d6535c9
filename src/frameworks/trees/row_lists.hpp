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

/// Whether it holds a list of numbers in each sample. Where all lists of the files are of one length, as in a file of one
/// row, the field is a vector.
inline bool is_list(const Dataset::Field& field) { return field.varies || field.sample_shape.size() == 1; }

/// The lists that a field has in the samples of a batch, valid as long as the batch is.
class RowLists {
 public:
  RowLists(const Dataset& data, const Batch& batch, const std::string& field);

  TensorView of(std::size_t row) const;  ///< shape [values]

 private:
  const Batch& batch_;
  std::string field_;
  bool varies_ = true;
  TensorView all_;  ///< unless it varies: of all rows
};

/// Samples of lists that fill about `bytes`, if a value takes `value_bytes`: from the lengths of some samples of the part.
std::size_t rows_of_lists(const Dataset& data, const Part& part, const std::string& field, std::size_t bytes,
                          std::size_t value_bytes);

/// Where a column number comes from, and what bounds it.
struct ColumnPlace {
  std::string_view set;  ///< of [data.SET]
  std::string_view field;
  std::uint64_t sample = 0;
  std::uint64_t columns = 0;  ///< the number must be below
  std::string_view limit;     ///< what that is, in words
};

/// Whether it is a whole number from 0 on below `columns`: neither NaN, nor a fraction, nor what a conversion to 32 bits
/// makes another number of.
template <class T>
bool is_column(T value, std::uint64_t columns) {
  if constexpr (std::is_floating_point_v<T>)
    return value >= 0 && static_cast<double>(value) < static_cast<double>(columns) && std::trunc(value) == value;
  else
    return value >= 0 && static_cast<std::uint64_t>(value) < columns;
}

[[noreturn]] void refuse_column(const ColumnPlace& place, const std::string& value);

/// Calls take(std::int32_t) with each column number of a list. UsageError for what is none.
template <class Take>
void for_each_column(const TensorView& list, const ColumnPlace& place, const Take& take) {
  with_values(list, [&](const auto* values) {
    for (std::int64_t k = 0; k < list.shape[0]; ++k) {
      if (!is_column(values[k], place.columns)) refuse_column(place, fmt::format("{}", values[k]));
      take(static_cast<std::int32_t>(values[k]));
    }
  });
}

}  // namespace trainrt::frameworks::trees
