#pragma once
#include <functional>
#include <string>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// The labels that XGBoost accepts. Without this check it refuses a label during training, and names neither row nor
/// dataset.
struct LabelRule {
  std::function<bool(float)> accepts;  ///< empty if every label is accepted
  std::string description;             ///< of the accepted labels, for messages
};

/// Returns the rule for [data.train], which depends on the objective, or for another dataset, which depends on the metrics.
/// `major`, `minor`: XGBoost's version. Pure function.
LabelRule label_rule(const Parameters& parameters, int major, int minor, bool is_train);

/// Throws UsageError, with dataset, field and sample, for a label that the rule does not accept. `block`: the current block
/// of `rows`.
void require_labels(const LabelRule& rule, const TableRows& rows, const RowBlock& block);

}  // namespace trainrt::frameworks::trees
