#include "frameworks/trees/lightgbm/lightgbm_dataset.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "frameworks/trees/lightgbm/lightgbm_prediction.hpp"
#include "frameworks/trees/lightgbm/lightgbm_sample.hpp"

namespace trainrt::frameworks::trees {

namespace {

/// Throws UsageError if there are more rows or columns than LightGBM's 32-bit integers can count. Not collective.
void require_size(const TableRows& rows, const TableLayout& layout, const std::string& name) {
  constexpr auto max_count = static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max());
  if (rows.size() > max_count)
    throw UsageError(fmt::format("[data.{}] has {} rows on a rank, but LightGBM supports at most {}: start more ranks",
                                 name, rows.size(), max_count));
  if (layout.columns > max_count)
    throw UsageError(fmt::format("the matrix has {} columns, but LightGBM supports at most {}", layout.columns, max_count));
}

/// Throws UsageError if a rank has no rows, which LightGBM does not support. Collective.
void require_rows_on_all_ranks(Context& ctx, const TableRows& rows, const std::string& name, const TableLayout& layout) {
  const auto min_rows = ctx.communicator().all_reduced(static_cast<std::int64_t>(rows.size()), Op::min);
  if (min_rows > 0) return;
  throw UsageError(fmt::format("[data.{}] has no rows for at least one of the {} ranks{}: start fewer ranks", name,
                               ctx.world_size(), layout.group.empty() ? "" : " (the rows of a query stay on one rank)"));
}

}  // namespace

LightgbmDataset::LightgbmDataset(const LightgbmRun& run, const std::string& name, const LightgbmDataset* reference)
    : name_(name), handle_(run.library.dataset_free) {
  const auto data = run.ctx.dataset(name);
  require_fields(run.layout, data, name, true);
  TableRows rows(run.ctx, data, name, run.layout);
  require_size(rows, run.layout, name);
  rows_ = static_cast<std::int32_t>(rows.size());
  if (reference == nullptr) {
    require_rows_on_all_ranks(run.ctx, rows, name, run.layout);
    make_bins(run, rows);
  } else if (rows_ > 0) {
    run.library.check(run.library.dataset_by_reference(reference->handle(), rows_, handle_.out()));
  }
  if (rows_ == 0) return;
  read_rows(run, rows);
  set_fields(run, rows);
}

void LightgbmDataset::make_bins(const LightgbmRun& run, TableRows& rows) {
  auto sample = sample_of(run, rows);
  const auto all_rows = static_cast<std::int64_t>(run.ctx.dataset(name_).size());
  run.network.check(run.library.dataset_from_sample(
                        sample.values.data(), sample.value_rows.data(), static_cast<std::int32_t>(run.layout.columns),
                        sample.counts.data(), sample.rows, rows_, all_rows, run.parameters.text().c_str(), handle_.out()),
                    true);
  std::vector<const char*> names;
  for (const auto& feature : run.layout.features) names.push_back(feature.name.c_str());
  if (!names.empty())
    run.library.check(run.library.set_feature_names(handle(), names.data(), static_cast<int>(names.size())), true);
}

void LightgbmDataset::read_rows(const LightgbmRun& run, TableRows& rows) {
  labels_.reserve(static_cast<std::size_t>(rows_));
  std::int32_t first = 0;
  rows.rewind();
  while (const auto* const block = rows.next()) {
    push(run, *block, first);
    if (run.model != nullptr || !block->margin.empty()) keep_scores(run, *block, static_cast<std::size_t>(first));
    labels_.insert(labels_.end(), block->label.begin(), block->label.end());
    weights_.insert(weights_.end(), block->weight.begin(), block->weight.end());
    first += static_cast<std::int32_t>(block->rows);
  }
}

void LightgbmDataset::push(const LightgbmRun& run, const RowBlock& block, std::int32_t first) {
  const auto columns = static_cast<std::int32_t>(run.layout.columns);
  if (!run.layout.is_sparse()) {
    run.library.check(run.library.push_rows(handle(), block.values, type_of_values(run.layout),
                                            static_cast<std::int32_t>(block.rows), columns, first));
    return;
  }
  run.library.check(run.library.push_sparse_rows(
      handle(), block.row_starts.data(), static_cast<int>(LightgbmLibrary::Type::i64), block.columns.data(), block.values,
      type_of_values(run.layout), static_cast<std::int64_t>(block.row_starts.size()),
      static_cast<std::int64_t>(block.columns.size()), columns, first));
}

void LightgbmDataset::keep_scores(const LightgbmRun& run, const RowBlock& block, std::size_t first) {
  block_scores_.assign(block.margin.begin(), block.margin.end());
  if (run.model != nullptr) predict(run, block);
  const auto all = static_cast<std::size_t>(rows_), classes = block_scores_.size() / block.rows;
  scores_.resize(all * classes);
  for (std::size_t row = 0; row < block.rows; ++row)
    for (std::size_t k = 0; k < classes; ++k) scores_[k * all + first + row] = block_scores_[row * classes + k];
}

/// Computes the scores of the model in the order of the trees, in doubles, like training.
void LightgbmDataset::predict(const LightgbmRun& run, const RowBlock& block) {
  LightgbmPrediction prediction{.model = run.model,
                                .layout = run.layout,
                                .kind = LightgbmLibrary::raw_score,
                                .parameters = fmt::format("num_threads={}", *run.parameters.find("num_threads"))};
  if (!block.margin.empty()) {
    prediction.rounds = run.rounds;
    if (!leaf_scores_) leaf_scores_.emplace(run.library, prediction, run.trees_per_round);
    leaf_scores_->add(block, block_scores_);
    return;
  }
  block_scores_.resize(block.rows * static_cast<std::size_t>(run.trees_per_round));
  run.library.check(predict_block(run.library, prediction, block, block_scores_.data()));
}

void LightgbmDataset::set_field(const LightgbmRun& run, const char* name, const void* values, std::size_t count,
                                LightgbmLibrary::Type type) {
  if (count > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw UsageError(fmt::format(
        "[data.{}] has more than 2147483647 values on a rank, the maximum of LightGBM: start more ranks", name_));
  run.library.check(run.library.set_field(handle(), name, values, static_cast<int>(count), static_cast<int>(type)));
}

void LightgbmDataset::set_fields(const LightgbmRun& run, TableRows& rows) {
  using Type = LightgbmLibrary::Type;
  set_field(run, "label", labels_.data(), labels_.size(), Type::f32);
  row_weight_ = static_cast<double>(rows_);
  if (!weights_.empty()) {
    set_field(run, "weight", weights_.data(), weights_.size(), Type::f32);
    row_weight_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  }
  if (!run.layout.group.empty()) {
    const auto sizes = rows.group_sizes();
    set_field(run, "group", sizes.data(), sizes.size(), Type::i32);
    query_weight_ = weights_.empty() ? static_cast<double>(sizes.size()) : 0;
    auto weight = weights_.begin();
    if (!weights_.empty())
      for (const auto size : sizes) {
        query_weight_ += static_cast<double>(std::accumulate(weight, weight + size, 0.0F) / static_cast<float>(size));
        weight += size;
      }
  }
  if (!scores_.empty()) set_field(run, "init_score", scores_.data(), scores_.size(), Type::f64);
  scores_ = {};
  block_scores_ = {};
  leaf_scores_.reset();
}

}  // namespace trainrt::frameworks::trees
