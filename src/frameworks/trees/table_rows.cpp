#include "frameworks/trees/table_rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/categories.hpp"
#include "frameworks/trees/queries.hpp"
#include "frameworks/trees/row_lists.hpp"
#include "frameworks/trees/values.hpp"

namespace trainrt::frameworks::trees {

namespace {

constexpr std::size_t block_bytes = 8 << 20;  // a block fits in the caches of a CPU

std::size_t rows_of_block(const Dataset& data, const SampleRange& part, const TableLayout& layout) {
  if (layout.is_sparse())
    return rows_of_lists(data, part, layout.sparse_indices, block_bytes, sizeof(std::int32_t) + size_of(layout.dtype));
  const auto row_bytes = std::max<std::size_t>(1, layout.features.size()) * size_of(layout.dtype);
  return std::clamp<std::size_t>(block_bytes / row_bytes, 256, 65536);
}

/// Copies every `stride`th value of `values`, beginning with index `first`, to every `step`th element of `into`.
template <class T>
void copy_column(const TensorView& values, std::size_t first, std::size_t stride, T* into, std::size_t step) {
  const auto rows = static_cast<std::size_t>(values.shape[0]);
  with_values(values, [&](const auto* from) {
    for (std::size_t row = 0; row < rows; ++row) into[row * step] = static_cast<T>(from[row * stride + first]);
  });
}

template <class T>
std::vector<T>& column_of(const Batch& batch, const std::string& field, std::vector<T>& into) {
  into.resize(batch.size());
  copy_column(batch.field(field), 0, 1, into.data(), 1);
  return into;
}

std::string value_text(double value) { return std::isnan(value) ? "missing (NaN)" : fmt::format("{}", value); }

/// Returns the index of `text` in `categories`; NaN if `categories` does not contain `text`.
template <class T>
T code_of(std::string_view text, const std::vector<std::string>& categories) {
  const auto place = std::ranges::lower_bound(categories, text, std::less<>());
  if (place == categories.end() || *place != text) return std::numeric_limits<T>::quiet_NaN();
  return static_cast<T>(place - categories.begin());
}

}  // namespace

TableRows::TableRows(Context& ctx, const Dataset& data, std::string name, const TableLayout& layout, bool with_targets)
    : ctx_(ctx), name_(std::move(name)), layout_(layout), data_(data), with_targets_(with_targets) {
  const bool has_queries = !layout_.group.empty() && with_targets;
  const auto part = has_queries ? part_of_queries(ctx, data_, {name_, layout_.group})
                                : part_of(data_.size(), ctx.world_rank(), ctx.world_size());
  first_ = part.first;
  size_ = part.count;
  block_rows_ = rows_of_block(data_, part, layout_);
}

void TableRows::rewind() {
  batches_.reset();
  is_begun_ = false;
}

const RowBlock* TableRows::next() {
  if (!is_begun_) {
    is_begun_ = true;
    batches_.emplace(data_.epoch(0).range(first_, size_, block_rows_));
    at_ = batches_->begin();
  } else if (batches_) {
    ++at_;
  }
  if (!batches_ || at_ == Batches::iterator()) {
    batches_.reset();
    if (std::exchange(is_first_pass_, false)) log_unseen();
    return nullptr;
  }
  fill(*at_);
  return &block_;
}

void TableRows::fill(const Batch& batch) {
  block_ = {.rows = batch.size()};
  if (layout_.is_sparse())
    fill_sparse(batch);
  else
    fill_dense(batch);
  if (!layout_.base_margin.empty() || (with_targets_ && !layout_.init_score.empty())) fill_margins(batch);
  if (!with_targets_) return;
  if (!layout_.label.empty()) fill_labels(batch);
  if (!layout_.lower_bound.empty()) fill_bounds(batch);
  if (!layout_.weight.empty()) fill_weights(batch);
  if (!layout_.group.empty()) block_.group = read_queries(batch, {name_, layout_.group}, group_);
}

void TableRows::fill_labels(const Batch& batch) {
  block_.label = column_of(batch, layout_.label, label_);
  const auto wrong = std::ranges::find_if(label_, [](float label) { return !std::isfinite(label); });
  if (wrong != label_.end())
    throw UsageError(fmt::format("[data.{}] label '{}' of sample {} is {}: every row needs a finite label", name_,
                                 layout_.label, batch.indices()[static_cast<std::size_t>(wrong - label_.begin())],
                                 value_text(*wrong)));
}

/// Checks the weights, since XGBoost and LightGBM check weights only in some cases and do not name the row.
void TableRows::fill_weights(const Batch& batch) {
  block_.weight = column_of(batch, layout_.weight, weight_);
  const auto wrong = std::ranges::find_if(weight_, [](float weight) { return !std::isfinite(weight) || weight < 0; });
  if (wrong != weight_.end())
    throw UsageError(fmt::format("[data.{}] weight '{}' of sample {} is {}: a weight must be finite and not negative",
                                 name_, layout_.weight, batch.indices()[static_cast<std::size_t>(wrong - weight_.begin())],
                                 value_text(*wrong)));
}

/// Checks the bounds, since XGBoost does not check them.
void TableRows::fill_bounds(const Batch& batch) {
  block_.lower_bound = column_of(batch, layout_.lower_bound, lower_bound_);
  block_.upper_bound = column_of(batch, layout_.upper_bound, upper_bound_);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const auto lower = lower_bound_[row], upper = upper_bound_[row];
    if (std::isfinite(lower) && lower >= 0 && upper >= lower) continue;
    throw UsageError(fmt::format(
        "[data.{}] label_lower_bound '{}' of sample {} is {}, and label_upper_bound '{}' is {}: a lower bound "
        "must be finite and not negative, and the upper bound not below it (infinite if the time is unknown)",
        name_, layout_.lower_bound, batch.indices()[row], value_text(lower), layout_.upper_bound, value_text(upper)));
  }
}

void TableRows::fill_margins(const Batch& batch) {
  const auto width = static_cast<std::size_t>(layout_.margins);
  margin_.resize(batch.size() * width);
  const auto values = batch.field(layout_.margin());
  for (std::size_t k = 0; k < width; ++k) copy_column(values, k, width, margin_.data() + k, width);
  block_.margin = margin_;
  const bool is_xgboost = !layout_.base_margin.empty();  // XGBoost stores margins as floats
  const auto wrong = std::ranges::find_if(
      margin_, [&](double value) { return !std::isfinite(is_xgboost ? static_cast<float>(value) : value); });
  if (wrong == margin_.end()) return;
  throw UsageError(fmt::format("[data.{}] {} '{}' of sample {} is {}: every row needs a finite number{}", name_,
                               is_xgboost ? "base_margin" : "init_score", layout_.margin(),
                               batch.indices()[static_cast<std::size_t>(wrong - margin_.begin()) / width],
                               value_text(*wrong), is_xgboost ? " in the range of f32" : ""));
}

void TableRows::fill_dense(const Batch& batch) {
  const auto& first = layout_.features.front();
  if (layout_.features.size() > 1 && layout_.features.back().field == first.field && layout_.dtype == DType::f32 &&
      !first.is_categorical) {
    const auto values = batch.field(first.field);  // contains all features, so its memory may be used without a copy
    if (values.dtype == DType::f32 && values.shape.size() > 1 &&
        static_cast<std::size_t>(element_count(values.shape)) == batch.size() * layout_.features.size()) {
      block_.values = values.data;
      return;
    }
  }
  if (layout_.dtype == DType::f64)
    fill_features(batch, doubles_);
  else
    fill_features(batch, floats_);
}

template <class T>
void TableRows::fill_features(const Batch& batch, std::vector<T>& into) {
  const auto width = layout_.features.size();
  into.resize(batch.size() * width);
  for (std::size_t column = 0; column < width; ++column) {
    const auto& feature = layout_.features[column];
    if (!feature.categories.empty()) {
      fill_texts(batch, column, into);
      continue;
    }
    const auto values = batch.field(feature.field);
    const auto stride = static_cast<std::size_t>(element_count(values.shape)) / std::max<std::size_t>(1, batch.size());
    copy_column(values, feature.element, stride, into.data() + column, width);
    if (feature.is_categorical) require_categories(batch, column, into);
  }
  block_.values = into.data();
}

template <class T>
void TableRows::fill_texts(const Batch& batch, std::size_t column, std::vector<T>& into) {
  const auto& feature = layout_.features[column];
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const auto text = batch.text(feature.field, row);
    const auto code = code_of<T>(text, feature.categories);
    into[row * layout_.features.size() + column] = code;
    if (!is_first_pass_ || text.empty() || !std::isnan(code)) continue;
    auto& unseen = unseen_[column];
    if (unseen.count++ == 0) unseen.first = text, unseen.sample = batch.indices()[row];
  }
}

/// Throws UsageError for an invalid number of a category. XGBoost and LightGBM would fail without naming the row, or treat
/// a negative number as a missing value.
template <class T>
void TableRows::require_categories(const Batch& batch, std::size_t column, const std::vector<T>& values) const {
  const auto width = layout_.features.size();
  for (std::size_t row = 0; row < batch.size(); ++row)
    if (const auto value = values[row * width + column]; value < 0 || value != std::trunc(value)) {
      if (std::isnan(value)) continue;
      throw UsageError(
          fmt::format("[data.{}] categorical field '{}' of sample {} is {}: categories are integers from 0, or "
                      "missing (NaN)",
                      name_, layout_.features[column].field, batch.indices()[row], value));
    }
}

void TableRows::log_unseen() {
  constexpr std::size_t max_shown = 60;
  for (const auto& [column, unseen] : unseen_)
    ctx_.log(fmt::format(
        "[data.{}] field '{}': {} value{} not among the categories of [data.train], first '{}' in sample {}; such "
        "values count as missing",
        name_, layout_.features[column].field, unseen.count, unseen.count == 1 ? " is" : "s are",
        unseen.first.substr(0, max_shown), unseen.sample));
}

void TableRows::fill_sparse(const Batch& batch) {
  columns_.clear();
  doubles_.clear();
  floats_.clear();
  row_starts_.assign(1, 0);
  const RowLists columns(data_, batch, layout_.sparse_indices), values(data_, batch, layout_.sparse_values);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    add_sparse_row(columns.of(row), values.of(row), batch.indices()[row]);
    row_starts_.push_back(static_cast<std::int64_t>(columns_.size()));
  }
  block_.values = layout_.dtype == DType::f64 ? static_cast<const void*>(doubles_.data()) : floats_.data();
  block_.row_starts = row_starts_;
  block_.columns = columns_;
}

void TableRows::add_sparse_row(const TensorView& columns, const TensorView& values, std::uint64_t sample) {
  if (columns.shape != values.shape)
    throw UsageError(fmt::format("[data.{}] sample {} has {} columns in '{}', but {} values in '{}'", name_, sample,
                                 columns.shape[0], layout_.sparse_indices, values.shape[0], layout_.sparse_values));
  const ColumnSource source{.set = name_,
                            .field = layout_.sparse_indices,
                            .sample = sample,
                            .columns = layout_.columns,
                            .limit = "the number of columns in [loop] columns or, without that key, in [data.train]"};
  for_each_column(columns, source, [&](std::int32_t column) { columns_.push_back(column); });
  with_values(values, [&](const auto* from) {
    for (std::int64_t k = 0; k < values.shape[0]; ++k)
      layout_.dtype == DType::f64 ? doubles_.push_back(static_cast<double>(from[k]))
                                  : floats_.push_back(static_cast<float>(from[k]));
  });
}

std::vector<std::int32_t> TableRows::group_sizes() {
  std::vector<std::int32_t> sizes;
  std::int64_t last = 0;
  for (const auto& batch : data_.epoch(0).range(first_, size_, block_rows_))
    for (const auto group : read_queries(batch, {name_, layout_.group}, group_)) {
      if (sizes.empty() || group != last) sizes.push_back(0);
      ++sizes.back();
      last = group;
    }
  return sizes;
}

}  // namespace trainrt::frameworks::trees
