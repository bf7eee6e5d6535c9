#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "data/text/field_types.hpp"

namespace trainrt::data {

/// Collects the values of one column that its inferred type would hide or change without a word: a few texts that make a
/// column of numbers a text, and leading zeros that a number loses.
class ColumnNotes {
 public:
  struct Value {
    std::string text;  ///< as the file has it, shortened for a message
    std::uint64_t row = 0;
  };

  /// `value` is as the file has it, of kind `kind`; `row` counts from 0, with the header.
  void see(Seen kind, std::string_view value, std::uint64_t row);

  /// The first value that is not a number, if at least half of the values are: such a column is a text by mistake.
  std::optional<Value> odd_value() const;
  std::uint64_t numbers() const { return numbers_.count; }
  std::uint64_t values() const { return numbers_.count + texts_.count + booleans_.count; }  ///< without missing ones
  /// The first number with zeros before it, which are lost if it is read as a number.
  const std::optional<Value>& leading_zero() const { return leading_zeros_.first; }
  /// The kinds of values that do not fit one type, with the row of the first of each, counted from 1: "row 1 has a number,
  /// 1, and row 2 has a text, two". Empty if all values are numbers, all texts, or all booleans, missing ones aside.
  std::string mixture() const;

 private:
  /// Values of one kind.
  struct Kind {
    std::uint64_t count = 0;
    std::optional<Value> first;
    void see(std::string_view value, std::uint64_t row);
  };

  Kind numbers_, texts_, booleans_, leading_zeros_;
};

}  // namespace trainrt::data
