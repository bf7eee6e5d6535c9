#include "frameworks/trees/xgboost/row_feed.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/xgboost/array_interface.hpp"

namespace trainrt::frameworks::trees {

RowFeed::RowFeed(const XgboostLibrary& library, TableRows& rows, const std::optional<WeightlessRow>& added,
                 LabelRule labels)
    : xgboost_(library), rows_(rows), labels_(std::move(labels)), info_(rows.layout()) {
  xgboost_.check(xgboost_.proxy_create(&proxy_));
  if (added) make_added(*added);
  rewind();
}

/// Sets added_ to `row`, with the weight 0 and a label that every objective accepts.
void RowFeed::make_added(const WeightlessRow& row) {
  static constexpr float label[] = {1}, weight[] = {0};
  static constexpr std::int64_t group[] = {0};
  const bool is_sparse = rows_.layout().is_sparse();
  for (std::size_t column = 0; column < row.size(); ++column) {
    if (is_sparse && std::isnan(row[column])) continue;
    added_values_.push_back(row[column]);
    if (is_sparse) added_columns_.push_back(static_cast<std::int32_t>(column));
  }
  added_floats_.assign(added_values_.begin(), added_values_.end());
  const bool is_double = rows_.layout().dtype == DType::f64;
  added_ = {.rows = 1,
            .values = is_double ? static_cast<const void*>(added_values_.data()) : added_floats_.data(),
            .weight = weight};
  if (!rows_.layout().label.empty()) added_->label = label;
  if (!rows_.layout().lower_bound.empty()) added_->lower_bound = added_->upper_bound = label;
  added_margin_.assign(static_cast<std::size_t>(rows_.layout().margins), 0);
  added_->margin = added_margin_;
  if (!rows_.layout().group.empty()) added_->group = group;
  if (!is_sparse) return;
  added_starts_ = {0, static_cast<std::int64_t>(added_columns_.size())};
  added_->row_starts = added_starts_;
  added_->columns = added_columns_;
}

RowFeed::~RowFeed() { xgboost_.matrix_free(proxy_); }

void RowFeed::rewind() {
  rows_.rewind();
  blocks_ = 0;
  is_added_ = false;
}

/// Returns the next block of the pass, and collects its groups, margins and bounds; nullptr at the end.
const RowBlock* RowFeed::advance() {
  if (blocks_ == 0) {
    group_sizes_.clear();
    group_weights_.clear();
    margins_.clear();
    lower_bounds_.clear();
    upper_bounds_.clear();
  }
  const auto* block = advance_to_block();
  ++blocks_;
  if (block == nullptr) return nullptr;
  take_groups(*block);
  for (const auto margin : block->margin) margins_.push_back(static_cast<float>(margin));
  lower_bounds_.insert(lower_bounds_.end(), block->lower_bound.begin(), block->lower_bound.end());
  upper_bounds_.insert(upper_bounds_.end(), block->upper_bound.begin(), block->upper_bound.end());
  return block;
}

/// A rank without rows gets an empty block, since XGBoost needs at least one.
const RowBlock* RowFeed::advance_to_block() {
  const auto* const block = rows_.next();
  if (block == nullptr) {
    if (added_) return std::exchange(is_added_, true) ? nullptr : &*added_;
    return blocks_ == 0 ? &empty_ : nullptr;
  }
  require_labels(labels_, rows_, *block);
  if (!added_ || !block->weight.empty()) return block;
  weighted_ = *block;  // all rows need a weight, because the added row has one
  ones_.assign(block->rows, 1);
  weighted_.weight = ones_;
  return &weighted_;
}

void RowFeed::take_groups(const RowBlock& block) {
  for (std::size_t row = 0; row < block.group.size(); ++row) {
    const bool is_new = group_sizes_.empty() || is_added_ || block.group[row] != last_group_;
    last_group_ = block.group[row];
    if (is_new) group_sizes_.push_back(0);
    ++group_sizes_.back();
    if (block.weight.empty()) continue;
    if (is_new) group_weights_.push_back(block.weight[row]);
    if (group_weights_.back() != block.weight[row])
      throw UsageError(fmt::format(
          "[data.{}] weight '{}' of sample {}, in group {} ('{}'), is {}, but was {} in the row before: XGBoost "
          "has one weight per group, so the rows of a group need equal weights",
          rows_.name(), rows_.layout().weight, rows_.batch().indices()[row], last_group_, rows_.layout().group,
          block.weight[row], group_weights_.back()));
  }
}

int RowFeed::next_block() try {
  const auto* block = advance();
  if (block == nullptr) return 0;
  give(*block);
  return 1;
} catch (...) {
  if (!failure_) failure_ = std::current_exception();
  return 0;
}

void RowFeed::give(const RowBlock& block) {
  const auto& layout = rows_.layout();
  const auto [row_starts, columns, values] = arrays_of(block, layout);
  xgboost_.check(layout.is_sparse()
                     ? xgboost_.proxy_set_csr(proxy_, row_starts.c_str(), columns.c_str(), values.c_str(), layout.columns)
                     : xgboost_.proxy_set_dense(proxy_, values.c_str()));
  if (!layout.label.empty())
    xgboost_.check(xgboost_.set_info(proxy_, "label", array_interface(block.label.data(), "f4", {block.rows}).c_str()));
  if (!block.weight.empty() && layout.group.empty())
    xgboost_.check(xgboost_.set_info(proxy_, "weight", array_interface(block.weight.data(), "f4", {block.rows}).c_str()));
  info_.set_of_matrix(xgboost_, proxy_);
}

int RowFeed::next_csr(XgboostLibrary::TakeBatch* take, void* holder) try {
  const auto* block = advance();
  if (block == nullptr) return 0;
  take(holder, as_csr(*block));
  return 1;
} catch (...) {
  if (!failure_) failure_ = std::current_exception();
  return 0;
}

/// Extends starts_ and columns_ to at least `rows` rows. They do not depend on the values, so all dense blocks use them.
void RowFeed::extend_dense_index(std::size_t rows, std::size_t width) {
  if (starts_.empty()) starts_.push_back(0);
  for (auto row = starts_.size(); row <= rows; ++row) {
    starts_.push_back(static_cast<std::int64_t>(row * width));
    for (std::size_t column = 0; column < width; ++column) columns_.push_back(static_cast<int>(column));
  }
}

/// Converts a block to sparse rows. Dense rows get all columns; XGBoost skips the missing values.
CsrBatch RowFeed::as_csr(const RowBlock& block) {
  const auto& layout = rows_.layout();
  const auto width = static_cast<std::size_t>(layout.columns);
  const bool is_dense = block.row_starts.empty();
  if (is_dense) extend_dense_index(block.rows, width);
  const auto* values = static_cast<const float*>(block.values);
  if (layout.dtype == DType::f64) {
    const auto* const doubles = static_cast<const double*>(block.values);
    values_.assign(doubles, doubles + (is_dense ? block.rows * width : block.columns.size()));
    values = values_.data();
  }
  const bool has_weights = !block.weight.empty() && layout.group.empty();
  // XGBoost only reads these arrays, so the const_casts are safe.
  return {.size = block.rows,
          .columns = width,
          .offset = const_cast<std::int64_t*>(is_dense ? starts_.data() : block.row_starts.data()),
          .label = const_cast<float*>(block.label.data()),
          .weight = has_weights ? const_cast<float*>(block.weight.data()) : nullptr,
          .index = const_cast<int*>(is_dense ? columns_.data() : block.columns.data()),
          .value = const_cast<float*>(values)};
}

}  // namespace trainrt::frameworks::trees
