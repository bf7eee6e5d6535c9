#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>

#include "data/text/row_expression.hpp"

namespace trainrt::data {

/// A condition on samples. It is an expression in which names have been resolved to fields. Numbers of different types
/// are compared by their exact values. All comparisons with NaN are false, except `!=`. Texts are compared byte by
/// byte. Any number of threads may call holds() at the same time.
class RowPredicate {
 public:
  /// `fields` are the fields of the samples. Throws UsageError, with the position in `text`, for:
  /// - a syntax error
  /// - an unknown field
  /// - a field of several numbers without an index (`x` instead of `x[3]`)
  /// - a comparison of a number with a text
  RowPredicate(std::string text, const std::vector<Dataset::Field>& fields);

  /// Returns the numbers of the fields that the condition uses.
  const std::vector<std::size_t>& fields() const { return used_; }
  /// Returns whether a sample meets the condition. `values` are the sample's values of the fields in fields(), in that
  /// order.
  bool holds(std::span<const TensorView> values) const { return holds(root_, values); }

 private:
  void bind(RowExpression& node, const std::vector<Dataset::Field>& all);
  void bind(RowOperand& operand, const std::vector<Dataset::Field>& all);
  [[noreturn]] void fail(const RowOperand& operand, const std::string& why) const;
  static bool holds(const RowExpression& node, std::span<const TensorView> values);

  std::string text_;
  std::vector<std::size_t> used_;
  RowExpression root_;
};

}  // namespace trainrt::data
