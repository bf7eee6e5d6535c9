#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::data {

/// What stands on one side of a comparison.
struct RowOperand {
  enum class Kind : std::uint8_t { whole, real, text, field };
  Kind kind = Kind::whole;
  std::int64_t whole = 0;
  double real = 0;
  std::string text;                      ///< of a text; of a field its name
  std::optional<std::uint64_t> element;  ///< of a field: x[3]
  std::size_t at = 0;                    ///< where it stands: its first byte in the expression
};

/// A condition on a row, as a tree.
struct RowExpression {
  enum class Kind : std::uint8_t { either, both, negation, comparison, flag };  ///< flag: `left` alone
  enum class Comparison : std::uint8_t { equal, unequal, less, less_or_equal, greater, greater_or_equal };
  Kind kind = Kind::flag;
  Comparison comparison = Comparison::equal;
  RowOperand left, right;
  std::unique_ptr<RowExpression> first, second;
};

/// Reads an expression:
///
///   condition  = both {"or" both}        both = one {"and" one}        one = "not" one | "(" condition ")" | comparison
///   comparison = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand]
///   operand    = number | "text" | 'text' | FIELD | FIELD[NUMBER]
///
/// A FIELD is letters, digits, `_`, `.` and `/`, not a digit first; any other name stands between backquotes. In a text
/// `\` takes the next character as it is. UsageError with the place of what is wrong. At most 64 KiB, nested 100 deep.
RowExpression parse_row_expression(std::string_view text);

/// "at character 5, 'x > y': WHY": for errors about a place of the expression.
std::string at_place(std::string_view text, std::size_t at, std::string_view why);

}  // namespace trainrt::data
