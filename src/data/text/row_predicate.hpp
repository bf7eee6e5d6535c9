#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.hpp"
#include "data/text/row_expression.hpp"

namespace trainrt::data {

/// A condition on the samples of a source. Numbers compare by their values, whatever their types, exactly; NaN with nothing
/// (x == x is false for it); texts byte by byte. Any threads may ask at once.
class RowPredicate {
 public:
  /// UsageError with the place in the expression for a field that is not there, that holds several numbers of which none is
  /// chosen (x[3] does), or that is compared with what it cannot be compared with.
  RowPredicate(std::string text, const std::vector<Dataset::Field>& fields);

  /// The fields that have to be read, by their numbers.
  const std::vector<std::size_t>& fields() const { return used_; }
  /// 1 for each sample that meets the condition, else 0. `columns`: of fields(), in that order.
  std::vector<std::uint8_t> holds(std::span<const Column> columns, std::uint64_t samples) const;

 private:
  struct Values;
  void bind(const RowExpression& node);
  void bind(const RowOperand& operand);
  bool is_text(const RowOperand& operand) const;
  std::size_t place_of(const RowOperand& operand) const;
  Values values_of(const RowOperand& operand, std::span<const Column> columns, std::uint64_t samples) const;
  std::vector<std::uint8_t> holds(const RowExpression& node, std::span<const Column> columns, std::uint64_t samples) const;
  std::vector<std::uint8_t> compared(const RowExpression& node, std::span<const Column> columns,
                                     std::uint64_t samples) const;

  std::string text_;
  std::vector<Dataset::Field> all_;
  std::vector<std::size_t> used_;
  RowExpression root_;
};

}  // namespace trainrt::data
