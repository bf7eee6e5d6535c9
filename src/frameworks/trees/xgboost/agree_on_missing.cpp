#include "frameworks/trees/xgboost/agree_on_missing.hpp"

#include <cstdint>
#include <limits>

namespace trainrt::frameworks::trees {

namespace {

template <class T>
void copy_row(const RowBlock& block, bool is_sparse, WeightlessRow& into) {
  const auto* const from = static_cast<const T*>(block.values);
  for (std::size_t k = 0; k < into.size(); ++k) into[is_sparse ? static_cast<std::size_t>(block.columns[k]) : k] = from[k];
}

/// Returns the first row of this rank. Precondition: the row has no missing value; a sparse row then has a value for
/// every column.
WeightlessRow first_row(TableRows& rows) {
  rows.rewind();
  const auto& block = *rows.next();
  const auto& layout = rows.layout();
  WeightlessRow row(static_cast<std::size_t>(layout.columns));
  if (layout.dtype == DType::f64)
    copy_row<double>(block, layout.is_sparse(), row);
  else
    copy_row<float>(block, layout.is_sparse(), row);
  return row;
}

/// Returns, on all ranks, the first row of the lowest rank that has rows. The values of this row occur in the data, so
/// adding the row creates no new bin. Collective.
WeightlessRow row_of_others(Context& ctx, TableRows& rows) {
  auto& communicator = ctx.communicator();
  const auto mine = rows.size() > 0 ? std::int64_t{ctx.world_rank()} : std::numeric_limits<std::int64_t>::max();
  const auto root = static_cast<int>(communicator.all_reduced(mine, Op::min));
  auto row = ctx.world_rank() == root ? first_row(rows) : missing_row(rows.layout());
  communicator.broadcast(Buffer{row.data(), row.size(), DType::f64}, root, "a row of the training data");
  return row;
}

}  // namespace

WeightlessRow missing_row(const TableLayout& layout) {
  return WeightlessRow(static_cast<std::size_t>(layout.columns), std::numeric_limits<double>::quiet_NaN());
}

MissingAgreement agree_on_missing(Context& ctx, TableRows& rows, bool is_dense) {
  const bool has_rows = rows.size() > 0;
  const auto on_any = [&](bool mine) { return ctx.communicator().all_reduced(std::int64_t{mine}, Op::max) > 0; };
  const bool any_is_empty = on_any(!has_rows);
  const bool any_is_dense = on_any(has_rows && is_dense);
  const bool any_has_missing = on_any(has_rows && !is_dense);
  MissingAgreement agreement;
  if (any_has_missing) {
    agreement.is_reached = !any_is_dense;
    if (!has_rows || is_dense) agreement.added = missing_row(rows.layout());
  } else {
    agreement.is_reached = !any_is_empty;
    if (any_is_empty) agreement.added = row_of_others(ctx, rows);
    if (has_rows) agreement.added.reset();
  }
  return agreement;
}

}  // namespace trainrt::frameworks::trees
