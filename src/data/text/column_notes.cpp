#include "data/text/column_notes.hpp"

#include <fmt/format.h>

#include "core/text/text.hpp"

namespace trainrt::data {

namespace {

constexpr std::size_t max_shown = 60;  // maximum number of bytes of a value in a message

/// Returns whether `number` has leading zeros, which would be lost if the text were read as a number: true for 007 and
/// -007, false for 0 and 0.7.
bool has_leading_zero(std::string_view number) {
  if (!number.empty() && (number.front() == '-' || number.front() == '+')) number.remove_prefix(1);
  return number.size() > 1 && number[0] == '0' && number[1] >= '0' && number[1] <= '9';
}

}  // namespace

void ColumnNotes::Kind::see(std::string_view value, std::uint64_t row) {
  if (count++ == 0) first = {excerpt(join(printable_lines(value), "\\n"), max_shown), row};
}

void ColumnNotes::see(Seen kind, std::string_view value, std::uint64_t row) {
  kinds_ |= static_cast<unsigned>(kind);
  if (kind == Seen::missing) return;
  if (kind == Seen::text) return texts_.see(value, row);
  if (kind == Seen::boolean) return booleans_.see(value, row);
  numbers_.see(value, row);
  if (has_leading_zero(value)) leading_zeros_.see(value, row);
}

ValueType ColumnNotes::type() const {
  const auto has = [&](Seen kind) { return (kinds_ & static_cast<unsigned>(kind)) != 0; };
  if (has(Seen::text) || (has(Seen::boolean) && numbers_.count > 0)) return ValueType::text();
  if (has(Seen::missing) || has(Seen::real)) return ValueType::number(DType::f64);
  return ValueType::number(has(Seen::boolean) ? DType::boolean : DType::i64);
}

std::optional<ColumnNotes::Value> ColumnNotes::odd_value() const {
  if (values() == numbers() || 2 * numbers() < values()) return std::nullopt;
  return texts_.count > 0 ? texts_.first : booleans_.first;
}

std::string ColumnNotes::mixture() const {
  std::string words;
  const auto add = [&](const Kind& kind, std::string_view name) {
    if (kind.count > 0)
      words +=
          fmt::format("{}row {} has {}, {}", words.empty() ? "" : ", and ", kind.first->row + 1, name, kind.first->text);
  };
  if ((numbers_.count > 0) + (texts_.count > 0) + (booleans_.count > 0) < 2) return words;
  add(numbers_, "a number");
  add(texts_, "a text");
  add(booleans_, "true or false");
  return words;
}

}  // namespace trainrt::data
