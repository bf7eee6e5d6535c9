#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "frameworks/trees/table_rows.hpp"
#include "frameworks/trees/xgboost/alike_rows.hpp"
#include "frameworks/trees/xgboost/feature_texts.hpp"
#include "frameworks/trees/xgboost/label_rule.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// Gives a rank's rows to XGBoost block by block, which asks for them by callbacks, one pass after the other. What it
/// throws inside a callback is kept, as XGBoost is C for who calls it, and thrown by rethrow().
class RowFeed {
 public:
  /// `added` comes after the rows, with the weight 0. A part without rows is a block of no rows.
  RowFeed(const XgboostLibrary& library, TableRows& rows, const std::optional<CountlessRow>& added, LabelRule labels);
  ~RowFeed();
  RowFeed(const RowFeed&) = delete;

  void* handle() { return this; }
  XgboostLibrary::Handle proxy() const { return proxy_; }
  /// For the functions that read a proxy matrix, which the callback fills.
  static int next(void* feed) { return static_cast<RowFeed*>(feed)->next_block(); }
  static void reset(void* feed) { static_cast<RowFeed*>(feed)->rewind(); }
  /// For XGDMatrixCreateFromDataIter.
  static int next_batch(void* feed, XgboostLibrary::TakeBatch* take, void* holder) {
    return static_cast<RowFeed*>(feed)->next_csr(take, holder);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  /// Of the pass that was begun last, if there are groups: their sizes, and a weight each if there are weights.
  const std::vector<std::uint32_t>& group_sizes() const { return group_sizes_; }
  const std::vector<float>& group_weights() const { return group_weights_; }
  /// Of the pass that was begun last: rows x layout.margins.
  const std::vector<float>& margins() const { return margins_; }
  const std::vector<float>& lower_bounds() const { return lower_bounds_; }  ///< a value a row
  const std::vector<float>& upper_bounds() const { return upper_bounds_; }

 private:
  int next_block();
  int next_csr(XgboostLibrary::TakeBatch* take, void* holder);
  void rewind();
  const RowBlock* advance();
  const RowBlock* advance_to_block();
  void make_added(const CountlessRow& row);
  void take_groups(const RowBlock& block);
  void give(const RowBlock& block);
  void make_dense_places(std::size_t rows, std::size_t width);
  CsrBatch as_csr(const RowBlock& block);

  const XgboostLibrary& xgboost_;
  TableRows& rows_;
  const LabelRule labels_;
  FeatureTexts texts_;
  XgboostLibrary::Handle proxy_ = nullptr;
  std::vector<double> added_values_;  // of the row that is added
  std::vector<float> added_floats_;
  std::vector<double> added_margin_;
  std::vector<std::int32_t> added_columns_;
  std::vector<std::int64_t> added_starts_;
  std::optional<RowBlock> added_;
  const RowBlock none_{};    // instead of rows
  RowBlock weighted_;        // the block with weights, which the added row has
  std::vector<float> ones_;  // those weights
  std::size_t blocks_ = 0;   // of this pass
  bool is_added_ = false;    // in this pass
  std::exception_ptr failure_;
  std::vector<std::uint32_t> group_sizes_;
  std::vector<float> group_weights_;
  std::vector<float> margins_, lower_bounds_, upper_bounds_;
  std::int64_t last_group_ = 0;
  std::vector<std::int64_t> starts_;  // of dense rows, and their columns
  std::vector<int> columns_;
  std::vector<float> values_;
};

}  // namespace trainrt::frameworks::trees
