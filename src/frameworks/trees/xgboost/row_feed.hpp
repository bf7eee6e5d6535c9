#pragma once
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "frameworks/trees/table_rows.hpp"
#include "frameworks/trees/xgboost/agree_on_missing.hpp"
#include "frameworks/trees/xgboost/feature_info.hpp"
#include "frameworks/trees/xgboost/label_rule.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// Passes a rank's rows to XGBoost by callbacks. XGBoost requests one block after another, in several passes.
/// Exceptions cannot pass through XGBoost's C API. Therefore the first exception in a callback ends the pass, and
/// rethrow() throws it.
class RowFeed {
 public:
  /// `added`: a row that is appended with the weight 0. A rank without rows passes an empty block.
  RowFeed(const XgboostLibrary& library, TableRows& rows, const std::optional<WeightlessRow>& added, LabelRule labels);
  ~RowFeed();
  RowFeed(const RowFeed&) = delete;

  void* handle() { return this; }
  XgboostLibrary::Handle proxy() const { return proxy_; }
  // Callbacks for XGBoost functions that read each block through the proxy matrix. next() fills the proxy with the next
  // block; reset() begins a new pass.
  static int next(void* feed) { return static_cast<RowFeed*>(feed)->next_block(); }
  static void reset(void* feed) { static_cast<RowFeed*>(feed)->rewind(); }
  /// The callback for XGDMatrixCreateFromDataIter.
  static int next_batch(void* feed, XgboostLibrary::TakeBatch* take, void* holder) {
    return static_cast<RowFeed*>(feed)->next_csr(take, holder);
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

  // Results of the last pass.
  /// Number of rows of each group; empty if there are no groups. group_weights() returns one weight per group; empty if
  /// there are no weights.
  const std::vector<std::uint32_t>& group_sizes() const { return group_sizes_; }
  const std::vector<float>& group_weights() const { return group_weights_; }
  /// Initial scores, rows x layout.margins.
  const std::vector<float>& margins() const { return margins_; }
  const std::vector<float>& lower_bounds() const { return lower_bounds_; }  ///< one per row
  const std::vector<float>& upper_bounds() const { return upper_bounds_; }

 private:
  int next_block();
  int next_csr(XgboostLibrary::TakeBatch* take, void* holder);
  void rewind();
  const RowBlock* advance();
  const RowBlock* advance_to_block();
  void make_added(const WeightlessRow& row);
  void take_groups(const RowBlock& block);
  void give(const RowBlock& block);
  void extend_dense_index(std::size_t rows, std::size_t width);
  CsrBatch as_csr(const RowBlock& block);

  const XgboostLibrary& xgboost_;
  TableRows& rows_;
  const LabelRule labels_;
  FeatureInfo info_;
  XgboostLibrary::Handle proxy_ = nullptr;
  std::vector<double> added_values_;  // memory of the row `added_`, like the next members
  std::vector<float> added_floats_;
  std::vector<double> added_margin_;
  std::vector<std::int32_t> added_columns_;
  std::vector<std::int64_t> added_starts_;
  std::optional<RowBlock> added_;
  const RowBlock empty_{};   // the only block of a rank without rows
  RowBlock weighted_;        // the current block with weights, if the added row needs them
  std::vector<float> ones_;  // the weights of weighted_
  std::size_t blocks_ = 0;   // number of blocks in this pass so far
  bool is_added_ = false;    // whether the added row was passed in this pass
  std::exception_ptr failure_;
  std::vector<std::uint32_t> group_sizes_;
  std::vector<float> group_weights_;
  std::vector<float> margins_, lower_bounds_, upper_bounds_;
  std::int64_t last_group_ = 0;
  std::vector<std::int64_t> starts_;  // row starts (here) and columns (below) of a block of dense rows
  std::vector<int> columns_;
  std::vector<float> values_;
};

}  // namespace trainrt::frameworks::trees
