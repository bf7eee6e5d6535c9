#pragma once
#include <functional>
#include <string>

#include "frameworks/trees/parameters.hpp"
#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// The labels that XGBoost takes. It refuses others while it trains, without a word of the row or the dataset.
struct LabelRule {
  std::function<bool(float)> takes;  ///< empty: any
  std::string needed;                ///< in words
};

/// Of [data.train], by the objective; of another set, by its metrics. `major`, `minor`: XGBoost's version. Pure.
LabelRule label_rule(const Parameters& parameters, int major, int minor, bool is_train);

/// UsageError with dataset, field and sample for a label of the rows' last block that the rule does not take.
void require_labels(const LabelRule& rule, const TableRows& rows, const RowBlock& block);

}  // namespace trainrt::frameworks::trees
