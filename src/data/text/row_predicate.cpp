#include "data/text/row_predicate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <compare>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/small_floats.hpp"
#include "core/text/text.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/field_types.hpp"
#include "data/text/number_text.hpp"

namespace trainrt::data {

namespace {

using Values = std::span<const TensorView>;
using Condition = std::function<bool(Values)>;
using OperandValue = std::variant<std::int64_t, double, std::string_view>;
using Order = std::partial_ordering;

/// Compares the exact values, even if a double cannot represent the integer.
Order compare(std::int64_t whole, double real) {
  constexpr double beyond = 0x1p63;
  if (std::isnan(real)) return Order::unordered;
  if (real >= beyond) return Order::less;
  if (real < -beyond) return Order::greater;
  const auto below = std::floor(real);
  const auto truncated = static_cast<std::int64_t>(below);
  if (whole != truncated) return whole <=> truncated;
  return below < real ? Order::less : Order::equivalent;
}
Order compare(double real, std::int64_t whole) {
  const auto reversed = compare(whole, real);
  return reversed == Order::unordered ? reversed : 0 <=> reversed;
}
template <class T>
Order compare(T a, T b) {
  return a <=> b;
}
template <class A, class B>
Order compare(A, B) {
  return Order::unordered;  // a text and a number: does not occur, because the parser refuses such a condition
}

OperandValue number_at(const std::byte* at, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return loaded<double>(at);
    case DType::f32:
      return double{loaded<float>(at)};
    case DType::f16:
      return double{from_f16(loaded<std::uint16_t>(at))};
    case DType::bf16:
      return double{from_bf16(loaded<std::uint16_t>(at))};
    case DType::f8e4m3:
      return double{from_f8e4m3(loaded<std::uint8_t>(at))};
    case DType::f8e5m2:
      return double{from_f8e5m2(loaded<std::uint8_t>(at))};
    default:
      return integer_at(at, dtype);
  }
}

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool is_in_name(char c) {
  return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '/';
}

/// One side of a comparison.
struct Operand {
  std::function<OperandValue(Values)> value;
  std::size_t at = 0;  ///< index of the operand's first byte in the expression
  bool is_text = false;
  bool is_field = false;
  const Dataset::Field* field = nullptr;  ///< nullptr if the fields are not known
};

/// Parses an expression into functions. Their argument has the values of the fields `used`, in this order.
class ExpressionParser {
 public:
  /// If `fields` is nullptr, only the syntax is checked.
  ExpressionParser(std::string_view text, const std::vector<Dataset::Field>* fields, std::vector<std::size_t>& used)
      : text_(text), fields_(fields), used_(used) {}

  Condition parse() {
    constexpr std::size_t max_bytes = 64 << 10;
    if (text_.size() > max_bytes)
      throw UsageError(fmt::format("the expression has {} bytes; at most {} are allowed", text_.size(), max_bytes));
    auto made = condition();
    if (!is_at_end()) fail("expected 'and', 'or' or the end of the expression");
    return made;
  }

 private:
  Condition condition() {
    std::vector<Condition> parts{both()};
    while (takes_word("or")) parts.push_back(both());
    if (parts.size() == 1) return parts.front();
    return [parts = std::move(parts)](Values values) {
      return std::ranges::any_of(parts, [&](const auto& part) { return part(values); });
    };
  }

  Condition both() {
    std::vector<Condition> parts{one()};
    while (takes_word("and")) parts.push_back(one());
    if (parts.size() == 1) return parts.front();
    return [parts = std::move(parts)](Values values) {
      return std::ranges::all_of(parts, [&](const auto& part) { return part(values); });
    };
  }

  Condition one() {
    constexpr int max_depth = 100;  // limits the depth of recursion
    if (++depth_ > max_depth) fail(fmt::format("nested more than {} deep", max_depth));
    auto made = takes_word("not") ? Condition([inner = one()](Values values) { return !inner(values); })
                : takes("(")      ? in_parentheses()
                                  : comparison();
    --depth_;
    return made;
  }

  Condition in_parentheses() {
    auto made = condition();
    if (!takes(")")) fail("')' is expected");
    return made;
  }

  Condition comparison() {
    constexpr std::array<std::pair<std::string_view, bool (*)(Order)>, 6> signs{
        {{"==", [](Order order) { return order == 0; }},
         {"!=", [](Order order) { return order != 0; }},
         {"<=", [](Order order) { return order <= 0; }},
         {">=", [](Order order) { return order >= 0; }},
         {"<", [](Order order) { return order < 0; }},
         {">", [](Order order) { return order > 0; }}}};
    const auto left = operand();
    for (const auto& [sign, meets] : signs) {
      if (!takes(sign)) continue;
      const auto right = operand();
      if (fields_ != nullptr && left.is_text != right.is_text) fail_at(left.at, "a text and a number cannot be compared");
      return [left = left.value, right = right.value, meets = meets](Values values) {
        return meets(std::visit([](auto a, auto b) { return compare(a, b); }, left(values), right(values)));
      };
    }
    if (!left.is_field) fail("expected a comparison, one of == != < <= > >=");
    if (!is_at_end() && text_[at_] == '=') fail("use == to compare");
    if (left.field != nullptr && left.field->dtype != DType::boolean)
      fail_at(left.at, fmt::format("'{}' has type {}; only a bool field can be a condition without a comparison. "
                                   "Compare it with a value",
                                   left.field->name, left.is_text ? "text" : name_of(left.field->dtype)));
    return [value = left.value](Values values) { return std::get<std::int64_t>(value(values)) != 0; };
  }

  Operand operand() {
    if (is_at_end()) fail("expected a field, a number or a text in quotes");
    const char c = text_[at_];
    const auto at = at_;
    if (c == '"' || c == '\'')
      return {[text = quoted(c, true)](Values) -> OperandValue { return std::string_view(text); }, at, true};
    if (c == '`') return field(quoted(c, false), at);
    if (!begins_name(c)) return {[number = number()](Values) { return number; }, at};
    while (at_ < text_.size() && is_in_name(text_[at_])) ++at_;
    const auto name = text_.substr(at, at_ - at);
    if (name == "and" || name == "or" || name == "not")
      fail_at(at, fmt::format("'{}' is not a field; expected a field, a number or a text in quotes", name));
    return field(name, at);
  }

  /// Reads the index of a field, if there is one, and returns the operand FIELD or FIELD[INDEX].
  Operand field(std::string_view name, std::size_t at) {
    std::optional<std::uint64_t> element;
    if (takes("[")) element = index();
    if (fields_ == nullptr) return {{}, at, false, true};
    const auto number = number_of(name, at);
    const auto& field = fields_->at(number);
    const auto place = std::ranges::find(used_, number) - used_.begin();
    if (place == std::ssize(used_)) used_.push_back(number);
    const auto view_in = [place](Values values) { return values[static_cast<std::size_t>(place)]; };
    if (field.varies) {
      if (field.dtype != DType::u8) fail_at(at, "lists of numbers that vary in length cannot be compared");
      if (element) fail_at(at, "a text has no elements; an index requires a field of numbers");
      const auto text = [view_in](Values values) -> OperandValue {
        const auto view = view_in(values);
        return std::string_view(static_cast<const char*>(view.data), view.bytes());
      };
      return {text, at, true, true, &field};
    }
    const auto values_of_sample = static_cast<std::uint64_t>(element_count(field.sample_shape));
    if (!field.sample_shape.empty() && !element)
      fail_at(at, fmt::format("'{}' has {} numbers per sample; choose one of them, such as {}[0]", field.name,
                              values_of_sample, field.name));
    if (element && *element >= values_of_sample)
      fail_at(at, fmt::format("the index is invalid: '{}' has {} per sample, numbered from 0", field.name,
                              counted(static_cast<std::int64_t>(values_of_sample), "number")));
    const auto offset = element.value_or(0) * size_of(field.dtype);
    const auto value = [view_in, offset, dtype = field.dtype](Values values) {
      return number_at(static_cast<const std::byte*>(view_in(values).data) + offset, dtype);
    };
    return {value, at, false, true, &field};
  }

  std::size_t number_of(std::string_view name, std::size_t at) try {
    return find_field(*fields_, name);
  } catch (const UsageError& error) {
    fail_at(at, error.what());
  }

  OperandValue number() {
    const auto begin = at_;
    const auto may_follow = [&](char c) {
      const bool is_exponent = at_ > begin && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' ||
             ((c == '-' || c == '+') && (at_ == begin || is_exponent));
    };
    while (at_ < text_.size() && may_follow(text_[at_])) ++at_;
    const auto word = text_.substr(begin, at_ - begin);
    if (const auto whole = integer_in(word)) return *whole;
    if (const auto real = real_in(word)) return *real;
    fail_at(begin, "expected a field, a number or a text in quotes");
  }

  std::uint64_t index() {
    const auto begin = at_;
    const auto value = at_ < text_.size() ? number() : OperandValue(0.0);
    const auto* const whole = std::get_if<std::int64_t>(&value);
    if (whole == nullptr || *whole < 0) fail_at(begin, "expected an index, which is an integer of 0 or more");
    if (!takes("]")) fail("']' is expected");
    return static_cast<std::uint64_t>(*whole);
  }

  std::string quoted(char quote, bool escapes) {
    const auto begin = at_++;
    std::string made;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (escapes && text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      made += text_[at_];
    }
    if (at_ == text_.size()) fail_at(begin, fmt::format("a quote ({}) is not closed", quote));
    ++at_;
    return made;
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  bool takes(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    skip_blanks();
    return true;
  }
  bool takes_word(std::string_view word) {
    skip_blanks();
    const auto end = at_ + word.size();
    return (end >= text_.size() || !is_in_name(text_[end])) && takes(word);
  }

  [[noreturn]] void fail(std::string_view why) { fail_at(at_, why); }
  /// Throws UsageError "at character 5 ('> y'): WHY".
  [[noreturn]] void fail_at(std::size_t at, std::string_view why) {
    const auto rest = text_.substr(std::min(at, text_.size()));
    const auto shown = join(printable_lines(excerpt(rest, 40)), " ");
    throw UsageError(
        fmt::format("at character {} ({}): {}", at + 1, rest.empty() ? "the end" : fmt::format("'{}'", shown), why));
  }

  std::string_view text_;
  const std::vector<Dataset::Field>* fields_;
  std::vector<std::size_t>& used_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

RowPredicate::RowPredicate(std::string_view text, const std::vector<Dataset::Field>& fields)
    : holds_(ExpressionParser(text, &fields, used_).parse()) {}

void require_condition(std::string_view text) {
  std::vector<std::size_t> none;
  ExpressionParser(text, nullptr, none).parse();
}

}  // namespace trainrt::data
