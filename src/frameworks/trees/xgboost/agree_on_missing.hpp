#pragma once
#include <optional>
#include <vector>

#include <trainrt/context.hpp>

#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// A row that is added to a rank's rows with the weight 0: one value per column, NaN for a missing value.
using WeightlessRow = std::vector<double>;

/// Returns a row in which every value is missing.
WeightlessRow missing_row(const TableLayout& layout);

/// The result of agree_on_missing().
struct MissingAgreement {
  bool is_reached = true;              ///< whether the rows can be used as they are
  std::optional<WeightlessRow> added;  ///< otherwise: the row to add to this rank's rows, if any
};

/// Ensures that either all ranks have missing values or no rank has, by adding weightless rows.
///
/// Before XGBoost 3, the method hist needs this, because of the sums of the gradients in the root node. A rank with
/// missing values computes these sums with a collective of all ranks. A rank without missing values takes the sums from
/// the histogram, without this collective (QuantileHistMaker::Builder::InitRoot). If both kinds of ranks existed, they
/// would wait for each other forever.
///
/// `is_dense` is true if this rank's rows have no missing values. It is ignored on a rank without rows, which has added
/// a missing_row(). Collective.
MissingAgreement agree_on_missing(Context& ctx, TableRows& rows, bool is_dense);

}  // namespace trainrt::frameworks::trees
