#pragma once
#include <optional>
#include <vector>

#include <trainrt/context.hpp>

#include "frameworks/trees/table_rows.hpp"

namespace trainrt::frameworks::trees {

/// A row that is added to a rank's and counts nothing, as its weight is 0: a value a column, NaN for a missing one.
using CountlessRow = std::vector<double>;

/// A row without a value.
CountlessRow missing_row(const TableLayout& layout);

/// The training data of all ranks as XGBoost's hist needs them before 3: it adds the gradients of the first node up over
/// all ranks if a rank's data have missing values, and takes them from the histogram, which is of all ranks already, if
/// they have none (QuantileHistMaker::Builder::InitRoot). Ranks that differ there wait for each other without an end.
struct AlikeRows {
  bool are_alike = true;              ///< as they are, with the row without a value that a rank without rows has
  std::optional<CountlessRow> added;  ///< to this rank's rows, if they are not
};

/// `is_dense`: no value is missing in this rank's rows. Reads a row again if a rank has none. Collective.
AlikeRows alike_rows(Context& ctx, TableRows& rows, bool is_dense);

}  // namespace trainrt::frameworks::trees
