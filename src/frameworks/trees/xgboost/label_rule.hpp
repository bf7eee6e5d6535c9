#pragma once
#include <functional>
#include <string>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// The labels that XGBoost accepts. XGBoost itself checks labels only during training, and its error message names
/// neither the row nor the dataset.
struct LabelRule {
  std::function<bool(float)> accepts;  ///< empty if every label is accepted
  std::string description;             ///< of the accepted labels, for messages
};

/// Returns the labels that a dataset may have: for [data.train] (`is_train`) those that the objective accepts, for another
/// dataset those that the metrics accept. `major` and `minor` are XGBoost's version. Pure function.
LabelRule label_rule(const Parameters& parameters, int major, int minor, bool is_train);

/// Throws UsageError, with dataset, field and sample, for a label that the rule does not accept. `block`: the current block
/// of `rows`.
void require_labels(const LabelRule& rule, const TableRows& rows, const RowBlock& block);

}  // namespace trainrt::frameworks::trees
