#include "data/text/row_predicate.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/small_floats.hpp"
#include "core/text/text.hpp"
#include "data/text/field_specs.hpp"

namespace trainrt::data {

/// Of one operand: one for all samples, or one each.
struct RowPredicate::Values {
  RowOperand::Kind kind = RowOperand::Kind::whole;
  std::vector<std::int64_t> whole;
  std::vector<double> real;
  std::vector<std::string_view> text;
};

namespace {

/// Exactly, whatever f64 can hold of the whole number.
std::partial_ordering compare_numbers(std::int64_t whole, double real) {
  constexpr double beyond = 0x1p63;
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= beyond) return std::partial_ordering::less;
  if (real < -beyond) return std::partial_ordering::greater;
  const auto below = std::floor(real);
  const auto truncated = static_cast<std::int64_t>(below);
  if (whole != truncated) return whole <=> truncated;
  return below < real ? std::partial_ordering::less : std::partial_ordering::equivalent;
}
std::partial_ordering compare_numbers(double real, std::int64_t whole) {
  const auto turned = compare_numbers(whole, real);
  return turned == std::partial_ordering::unordered ? turned : 0 <=> turned;
}
std::partial_ordering compare_numbers(double a, double b) { return a <=> b; }
std::partial_ordering compare_numbers(std::int64_t a, std::int64_t b) { return a <=> b; }
std::partial_ordering compare_numbers(std::string_view a, std::string_view b) { return a <=> b; }

bool meets(std::partial_ordering order, RowExpression::Comparison comparison) {
  using Comparison = RowExpression::Comparison;
  switch (comparison) {
    case Comparison::equal:
      return order == 0;
    case Comparison::unequal:
      return order != 0;
    case Comparison::less:
      return order < 0;
    case Comparison::less_or_equal:
      return order <= 0;
    case Comparison::greater:
      return order > 0;
    case Comparison::greater_or_equal:
      return order >= 0;
  }
  return false;
}

template <class A, class B>
std::vector<std::uint8_t> compare_all(const std::vector<A>& a, const std::vector<B>& b, std::uint64_t samples,
                                      RowExpression::Comparison comparison) {
  std::vector<std::uint8_t> made(samples);
  const std::size_t step_a = a.size() == 1 ? 0 : 1, step_b = b.size() == 1 ? 0 : 1;
  for (std::uint64_t i = 0; i < samples; ++i)
    made[i] = meets(compare_numbers(a[i * step_a], b[i * step_b]), comparison) ? 1 : 0;
  return made;
}

template <class T, class Made, class Decode>
void decode_all(const Column& column, std::size_t bytes, std::size_t offset, std::uint64_t samples, std::vector<Made>& made,
                Decode decode) {
  made.resize(samples);
  for (std::uint64_t i = 0; i < samples; ++i) {
    T value;
    std::memcpy(&value, column.values.data() + i * bytes + offset, sizeof value);
    made[i] = static_cast<Made>(decode(value));
  }
}

bool is_whole(DType dtype) {
  return dtype == DType::i64 || dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8 || dtype == DType::u8 ||
         dtype == DType::boolean;
}

void decode_whole(const Column& column, const Dataset::Field& field, std::size_t offset, std::uint64_t samples,
                  std::vector<std::int64_t>& made) {
  const auto bytes = sample_bytes(field);
  const auto same = [](auto value) { return value; };
  switch (field.dtype) {
    case DType::i64:
      return decode_all<std::int64_t>(column, bytes, offset, samples, made, same);
    case DType::i32:
      return decode_all<std::int32_t>(column, bytes, offset, samples, made, same);
    case DType::i16:
      return decode_all<std::int16_t>(column, bytes, offset, samples, made, same);
    case DType::i8:
      return decode_all<std::int8_t>(column, bytes, offset, samples, made, same);
    default:
      return decode_all<std::uint8_t>(column, bytes, offset, samples, made, same);
  }
}

void decode_real(const Column& column, const Dataset::Field& field, std::size_t offset, std::uint64_t samples,
                 std::vector<double>& made) {
  const auto bytes = sample_bytes(field);
  const auto same = [](auto value) { return value; };
  switch (field.dtype) {
    case DType::f64:
      return decode_all<double>(column, bytes, offset, samples, made, same);
    case DType::f32:
      return decode_all<float>(column, bytes, offset, samples, made, same);
    case DType::f16:
      return decode_all<std::uint16_t>(column, bytes, offset, samples, made, from_f16);
    case DType::bf16:
      return decode_all<std::uint16_t>(column, bytes, offset, samples, made, from_bf16);
    case DType::f8e4m3:
      return decode_all<std::uint8_t>(column, bytes, offset, samples, made, from_f8e4m3);
    default:
      return decode_all<std::uint8_t>(column, bytes, offset, samples, made, from_f8e5m2);
  }
}

}  // namespace

RowPredicate::RowPredicate(std::string text, const std::vector<Dataset::Field>& fields)
    : text_(std::move(text)), all_(fields), root_(parse_row_expression(text_)) {
  bind(root_);
}

void RowPredicate::bind(const RowExpression& node) {
  using Kind = RowExpression::Kind;
  if (node.first) bind(*node.first);
  if (node.second) bind(*node.second);
  if (node.kind != Kind::comparison && node.kind != Kind::flag) return;
  bind(node.left);
  if (node.kind == Kind::flag) {
    const auto& field = all_[used_[place_of(node.left)]];
    if (field.dtype != DType::boolean || is_text(node.left))
      throw UsageError(
          at_place(text_, node.left.at,
                   fmt::format("'{}' is of {}, and only bool is a condition by itself: compare it with a value",
                               node.left.text, is_text(node.left) ? "text" : name_of(field.dtype))));
    return;
  }
  bind(node.right);
  if (is_text(node.left) != is_text(node.right))
    throw UsageError(at_place(text_, node.left.at, "a text and a number cannot be compared"));
}

void RowPredicate::bind(const RowOperand& operand) {
  if (operand.kind != RowOperand::Kind::field) return;
  const auto fail = [&](const std::string& why) { throw UsageError(at_place(text_, operand.at, why)); };
  std::vector<std::string> names;
  for (const auto& field : all_) names.push_back(field.name);
  const auto found = std::find(names.begin(), names.end(), operand.text);
  if (found == names.end())
    fail(fmt::format("there is no field '{}'{}; there are: {}", excerpt(operand.text, 60),
                     did_you_mean(operand.text, names), excerpt(join(names))));
  const auto number = static_cast<std::size_t>(found - names.begin());
  const auto& field = all_[number];
  if (field.varies && field.dtype != DType::u8) fail("a list of numbers that varies in length cannot be compared");
  const auto values = field.varies ? 1 : static_cast<std::uint64_t>(element_count(field.sample_shape));
  if (field.varies && operand.element) fail("a text has no elements to be compared");
  if (!field.sample_shape.empty() && !operand.element)
    fail(fmt::format("'{}' holds {} numbers a sample: choose one, as {}[0]", field.name, values, field.name));
  if (operand.element && *operand.element >= values)
    fail(fmt::format("'{}' holds {} a sample, numbered from 0", field.name,
                     counted(static_cast<std::int64_t>(values), "number")));
  if (std::find(used_.begin(), used_.end(), number) == used_.end()) used_.push_back(number);
}

bool RowPredicate::is_text(const RowOperand& operand) const {
  if (operand.kind == RowOperand::Kind::field) return all_[used_[place_of(operand)]].varies;
  return operand.kind == RowOperand::Kind::text;
}

/// Among the fields that are read.
std::size_t RowPredicate::place_of(const RowOperand& operand) const {
  std::size_t place = 0;
  while (all_[used_[place]].name != operand.text) ++place;
  return place;
}

RowPredicate::Values RowPredicate::values_of(const RowOperand& operand, std::span<const Column> columns,
                                             std::uint64_t samples) const {
  Values made;
  made.kind = operand.kind;
  if (operand.kind != RowOperand::Kind::field) {
    made.whole = {operand.whole};
    made.real = {operand.real};
    made.text = {operand.text};
    return made;
  }
  const auto& column = columns[place_of(operand)];
  const auto& field = all_[column.field];
  if (field.varies) {
    made.kind = RowOperand::Kind::text;
    for (std::uint64_t i = 0, first = 0; i < samples; first = column.ends[i++])
      made.text.emplace_back(reinterpret_cast<const char*>(column.values.data()) + first, column.ends[i] - first);
    return made;
  }
  const auto offset = operand.element.value_or(0) * size_of(field.dtype);
  made.kind = is_whole(field.dtype) ? RowOperand::Kind::whole : RowOperand::Kind::real;
  if (is_whole(field.dtype))
    decode_whole(column, field, offset, samples, made.whole);
  else
    decode_real(column, field, offset, samples, made.real);
  return made;
}

std::vector<std::uint8_t> RowPredicate::compared(const RowExpression& node, std::span<const Column> columns,
                                                 std::uint64_t samples) const {
  const auto a = values_of(node.left, columns, samples), b = values_of(node.right, columns, samples);
  constexpr auto whole = RowOperand::Kind::whole;
  if (a.kind == RowOperand::Kind::text) return compare_all(a.text, b.text, samples, node.comparison);
  if (a.kind == whole && b.kind == whole) return compare_all(a.whole, b.whole, samples, node.comparison);
  if (a.kind == whole) return compare_all(a.whole, b.real, samples, node.comparison);
  if (b.kind == whole) return compare_all(a.real, b.whole, samples, node.comparison);
  return compare_all(a.real, b.real, samples, node.comparison);
}

std::vector<std::uint8_t> RowPredicate::holds(const RowExpression& node, std::span<const Column> columns,
                                              std::uint64_t samples) const {
  using Kind = RowExpression::Kind;
  if (node.kind == Kind::comparison) return compared(node, columns, samples);
  if (node.kind == Kind::flag) {
    const auto found = values_of(node.left, columns, samples).whole;
    std::vector<std::uint8_t> made(samples);
    for (std::uint64_t i = 0; i < samples; ++i) made[i] = found[i] != 0 ? 1 : 0;
    return made;
  }
  auto made = holds(*node.first, columns, samples);
  if (node.kind == Kind::negation) {
    for (auto& each : made) each ^= 1;
    return made;
  }
  const auto second = holds(*node.second, columns, samples);
  for (std::uint64_t i = 0; i < samples; ++i) made[i] = node.kind == Kind::both ? made[i] & second[i] : made[i] | second[i];
  return made;
}

std::vector<std::uint8_t> RowPredicate::holds(std::span<const Column> columns, std::uint64_t samples) const {
  return holds(root_, columns, samples);
}

}  // namespace trainrt::data
