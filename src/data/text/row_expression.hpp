#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainrt::data {

/// One side of a comparison.
struct RowOperand {
  enum class Kind : std::uint8_t { whole, real, text, field };
  Kind kind = Kind::whole;
  std::int64_t whole = 0;
  double real = 0;
  std::string text;                      ///< the value of a text, or the name of a field
  std::optional<std::uint64_t> element;  ///< the index in FIELD[INDEX]
  std::size_t at = 0;                    ///< index of its first byte in the expression
  // A RowPredicate sets these members when it resolves the names of fields:
  std::size_t field = 0;  ///< index in RowPredicate::fields()
  bool is_text = false;   ///< the operand is a text, or a field of texts
};

/// A condition on a sample, as a tree.
struct RowExpression {
  enum class Kind : std::uint8_t { either, both, negation, comparison, flag };  ///< flag: `left` alone, a field of bool
  enum class Comparison : std::uint8_t { equal, unequal, less, less_or_equal, greater, greater_or_equal };
  Kind kind = Kind::flag;
  Comparison comparison = Comparison::equal;
  RowOperand left, right;
  std::unique_ptr<RowExpression> first, second;
};

/// Parses an expression:
///
///   condition  = both {"or" both}        both = one {"and" one}        one = "not" one | "(" condition ")" | comparison
///   comparison = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand]
///   operand    = number | "text" | 'text' | FIELD | FIELD[INDEX]
///
/// A FIELD consists of letters, digits, `_`, `.` and `/`, and does not begin with a digit; other names are written in
/// backquotes. In a text, `\` quotes the next character. Throws UsageError with the position of a syntax error, and for
/// expressions of more than 64 KiB, 100 nested parentheses or 1000 conditions.
RowExpression parse_row_expression(std::string_view text);

/// Returns the message of an error at byte `at` of an expression: "at character 5 ('> y'): WHY".
std::string at_character(std::string_view text, std::size_t at, std::string_view why);

}  // namespace trainrt::data
