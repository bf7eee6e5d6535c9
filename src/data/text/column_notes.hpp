#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/text/field_types.hpp"

namespace trainrt::data {

/// Infers the type of a column from its values. Also stores two values for warnings: the first text in a column of
/// mostly numbers, and the first number with leading zeros, which a column of numbers does not keep.
class ColumnNotes {
 public:
  struct Value {
    std::string text;  ///< the value in the file, shortened for a message
    std::uint64_t row = 0;
  };

  /// Adds the next value. `value` is the text in the file; `row` is counted from 0, including the header.
  void see(Seen kind, std::string_view value, std::uint64_t row);

  /// Returns bool if all values are booleans, and i64 if all are integers. Returns f64 if all are numbers, or if some are
  /// missing (NaN) and all others are numbers, or all others are booleans (0 and 1). Otherwise returns text.
  ValueType type() const;
  /// Returns the first value that is not a number, if at least half of the values are numbers. Such a column is
  /// probably meant to contain numbers.
  std::optional<Value> odd_value() const;
  std::uint64_t numbers() const { return numbers_.count; }  ///< number of values that are numbers
  std::uint64_t values() const {
    return numbers_.count + texts_.count + booleans_.count;
  }  ///< number of values, without missing ones
  /// Returns the first number that has leading zeros.
  const std::optional<Value>& leading_zero() const { return leading_zeros_.first; }
  /// If the column has several kinds of values, returns the first value of each kind with its row, counted from 1: "row
  /// 1 has a number, 1, and row 2 has a text, two". Returns "" if all values that are not missing have one kind.
  std::string mixture() const;

 private:
  /// Values of one kind.
  struct Kind {
    std::uint64_t count = 0;
    std::optional<Value> first;
    void see(std::string_view value, std::uint64_t row);
  };

  unsigned kinds_ = 0;  ///< bit mask of the kinds (Seen) of all values so far
  Kind numbers_, texts_, booleans_, leading_zeros_;
};

}  // namespace trainrt::data
