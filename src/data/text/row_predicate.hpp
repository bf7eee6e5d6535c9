#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

namespace trainrt::data {

/// A condition on samples:
///
///   condition  = both {"or" both}        both = one {"and" one}        one = "not" one | "(" condition ")" | comparison
///   comparison = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand]
///   operand    = number | "text" | 'text' | FIELD | FIELD[INDEX]
///
/// A FIELD consists of letters, digits, `_`, `.` and `/`, and does not begin with a digit; other names must be in
/// backquotes. In a text, `\` escapes the next character. An operand without a comparison must be a bool field.
///
/// Numbers of different types are compared by their exact values. All comparisons with NaN are false, except `!=`. Texts
/// are compared byte by byte.
class RowPredicate {
 public:
  /// `fields` are the fields of the samples. Throws UsageError, with the position in `text`, for:
  /// - a syntax error
  /// - an unknown field
  /// - a field of several numbers without an index (`x` instead of `x[3]`)
  /// - a comparison of a number with a text
  /// - more than 64 KiB, or more than 100 nested parentheses
  RowPredicate(std::string_view text, const std::vector<Dataset::Field>& fields);

  /// Returns the indices of the fields that the condition uses.
  const std::vector<std::size_t>& fields() const { return used_; }
  /// Returns whether a sample meets the condition. `values` are the sample's values of the fields in fields(), in that
  /// order. Any number of threads may call holds() at the same time.
  bool holds(std::span<const TensorView> values) const { return holds_(values); }

 private:
  std::vector<std::size_t> used_;
  std::function<bool(std::span<const TensorView>)> holds_;
};

/// Throws UsageError, with the position, for a syntax error in a condition. The fields need not be known.
void require_condition(std::string_view text);

}  // namespace trainrt::data
