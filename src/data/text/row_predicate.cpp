#include "data/text/row_predicate.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/small_floats.hpp"
#include "core/text/text.hpp"
#include "data/text/field_specs.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

namespace {

using ConditionKind = RowExpression::Kind;
using Comparison = RowExpression::Comparison;
using OperandValue = std::variant<std::int64_t, double, std::string_view>;

/// Compares exactly, even integers that a double cannot hold.
std::partial_ordering compare(std::int64_t whole, double real) {
  constexpr double beyond = 0x1p63;
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= beyond) return std::partial_ordering::less;
  if (real < -beyond) return std::partial_ordering::greater;
  const auto below = std::floor(real);
  const auto truncated = static_cast<std::int64_t>(below);
  if (whole != truncated) return whole <=> truncated;
  return below < real ? std::partial_ordering::less : std::partial_ordering::equivalent;
}
std::partial_ordering compare(double real, std::int64_t whole) {
  const auto reversed = compare(whole, real);
  return reversed == std::partial_ordering::unordered ? reversed : 0 <=> reversed;
}
template <class T>
std::partial_ordering compare(T a, T b) {
  return a <=> b;
}
template <class A, class B>
std::partial_ordering compare(A, B) {
  return std::partial_ordering::unordered;  // a text and a number: refused when the condition is made
}

bool meets(std::partial_ordering order, Comparison comparison) {
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

OperandValue value_of(const RowOperand& operand, std::span<const TensorView> values) {
  if (operand.kind == RowOperand::Kind::whole) return operand.whole;
  if (operand.kind == RowOperand::Kind::real) return operand.real;
  if (operand.kind == RowOperand::Kind::text) return std::string_view(operand.text);
  const auto& view = values[operand.field];
  const auto* const bytes = static_cast<const std::byte*>(view.data);
  if (operand.is_text) return std::string_view(reinterpret_cast<const char*>(bytes), view.bytes());
  return number_at(bytes + operand.element.value_or(0) * size_of(view.dtype), view.dtype);
}

}  // namespace

RowPredicate::RowPredicate(std::string text, const std::vector<Dataset::Field>& fields)
    : text_(std::move(text)), root_(parse_row_expression(text_)) {
  bind(root_, fields);
}

void RowPredicate::fail(const RowOperand& operand, const std::string& why) const {
  throw UsageError(at_character(text_, operand.at, why));
}

void RowPredicate::bind(RowExpression& node, const std::vector<Dataset::Field>& all) {
  if (node.first) bind(*node.first, all);
  if (node.second) bind(*node.second, all);
  if (node.kind != ConditionKind::comparison && node.kind != ConditionKind::flag) return;
  bind(node.left, all);
  if (node.kind == ConditionKind::comparison) {
    bind(node.right, all);
    if (node.left.is_text != node.right.is_text) fail(node.left, "a text and a number cannot be compared");
  } else if (const auto dtype = all[used_[node.left.field]].dtype; dtype != DType::boolean) {
    fail(node.left,
         fmt::format("'{}' has type {}; only a bool field can be a condition without a comparison. Compare it with a value",
                     node.left.text, node.left.is_text ? "text" : name_of(dtype)));
  }
}

void RowPredicate::bind(RowOperand& operand, const std::vector<Dataset::Field>& all) {
  operand.is_text = operand.kind == RowOperand::Kind::text;
  if (operand.kind != RowOperand::Kind::field) return;
  std::size_t number = 0;
  try {
    number = find_field(all, operand.text);
  } catch (const UsageError& error) {
    fail(operand, error.what());
  }
  const auto& field = all[number];
  operand.is_text = field.varies;
  if (field.varies && field.dtype != DType::u8) fail(operand, "a list of numbers that varies in length cannot be compared");
  if (field.varies && operand.element) fail(operand, "a text has no elements; an index requires a field of numbers");
  const auto values = field.varies ? 1 : static_cast<std::uint64_t>(element_count(field.sample_shape));
  if (!field.sample_shape.empty() && !operand.element)
    fail(operand,
         fmt::format("'{}' has {} numbers per sample; choose one of them, such as {}[0]", field.name, values, field.name));
  if (operand.element && *operand.element >= values)
    fail(operand, fmt::format("the index is invalid: '{}' has {} per sample, numbered from 0", field.name,
                              counted(static_cast<std::int64_t>(values), "number")));
  const auto known = std::ranges::find(used_, number);
  operand.field = static_cast<std::size_t>(known - used_.begin());
  if (known == used_.end()) used_.push_back(number);
}

bool RowPredicate::holds(const RowExpression& node, std::span<const TensorView> values) {
  switch (node.kind) {
    case ConditionKind::either:
      return holds(*node.first, values) || holds(*node.second, values);
    case ConditionKind::both:
      return holds(*node.first, values) && holds(*node.second, values);
    case ConditionKind::negation:
      return !holds(*node.first, values);
    case ConditionKind::flag:
      return std::get<std::int64_t>(value_of(node.left, values)) != 0;
    case ConditionKind::comparison:
      break;
  }
  return std::visit([&](auto a, auto b) { return meets(compare(a, b), node.comparison); }, value_of(node.left, values),
                    value_of(node.right, values));
}

}  // namespace trainrt::data
