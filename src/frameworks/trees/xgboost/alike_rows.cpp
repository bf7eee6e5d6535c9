#include "frameworks/trees/xgboost/alike_rows.hpp"

#include <cstdint>
#include <limits>

namespace trainrt::frameworks::trees {

namespace {

template <class T>
void copy_row(const RowBlock& block, bool is_sparse, CountlessRow& into) {
  const auto* const from = static_cast<const T*>(block.values);
  for (std::size_t k = 0; k < into.size(); ++k) into[is_sparse ? static_cast<std::size_t>(block.columns[k]) : k] = from[k];
}

/// The first row of the part, which has no missing value: in sparse rows all columns stand there.
CountlessRow first_row(TableRows& rows) {
  rows.rewind();
  const auto& block = *rows.next();
  const auto& layout = rows.layout();
  CountlessRow row(static_cast<std::size_t>(layout.columns));
  if (layout.dtype == DType::f64)
    copy_row<double>(block, layout.is_sparse(), row);
  else
    copy_row<float>(block, layout.is_sparse(), row);
  return row;
}

/// Its values are among the data's, so that it adds no bin.
CountlessRow row_of_others(Context& ctx, TableRows& rows) {
  auto& communicator = ctx.communicator();
  const auto mine = rows.size() > 0 ? std::int64_t{ctx.world_rank()} : std::numeric_limits<std::int64_t>::max();
  const auto root = static_cast<int>(communicator.all_reduced(mine, Op::min));
  auto row = ctx.world_rank() == root ? first_row(rows) : missing_row(rows.layout());
  communicator.broadcast(Buffer{row.data(), row.size(), DType::f64}, root, "a row of the training data");
  return row;
}

}  // namespace

CountlessRow missing_row(const TableLayout& layout) {
  return CountlessRow(static_cast<std::size_t>(layout.columns), std::numeric_limits<double>::quiet_NaN());
}

AlikeRows alike_rows(Context& ctx, TableRows& rows, bool is_dense) {
  const bool has_rows = rows.size() > 0;
  const auto on_any = [&](bool mine) { return ctx.communicator().all_reduced(std::int64_t{mine}, Op::max) > 0; };
  const bool any_is_empty = on_any(!has_rows);
  const bool any_is_dense = on_any(has_rows && is_dense);
  const bool any_has_missing = on_any(has_rows && !is_dense);
  AlikeRows alike;
  if (any_has_missing) {
    alike.are_alike = !any_is_dense;
    if (!has_rows || is_dense) alike.added = missing_row(rows.layout());
  } else {
    alike.are_alike = !any_is_empty;
    if (any_is_empty) alike.added = row_of_others(ctx, rows);
    if (has_rows) alike.added.reset();
  }
  return alike;
}

}  // namespace trainrt::frameworks::trees
