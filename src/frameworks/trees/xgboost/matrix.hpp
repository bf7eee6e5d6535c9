#pragma once
#include <optional>
#include <string>

#include "frameworks/trees/table_rows.hpp"
#include "frameworks/trees/xgboost/label_rule.hpp"
#include "frameworks/trees/xgboost/row_feed.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// How XGBoost stores the rows of a dataset.
struct MatrixPlan {
  enum class Kind { quantile, plain, external };
  Kind kind = Kind::quantile;
  int threads = 1;
  std::string max_bin = "256";         ///< value of the parameter max_bin
  std::optional<WeightlessRow> added;  ///< row to add to this rank's rows
  LabelRule labels;
  std::string cache;  ///< external: path and beginning of the names of the files with its pages
};

/// This rank's rows of one dataset, stored by XGBoost.
class XgboostMatrix {
 public:
  /// Reads the rows several times, in blocks, so that memory never contains them twice. `reference`: the training
  /// matrix; this matrix uses its bins. It is nullptr for the training matrix itself. Collective if XGBoost's
  /// communicator is open.
  XgboostMatrix(const XgboostLibrary& library, TableRows& rows, const MatrixPlan& plan, const XgboostMatrix* reference);
  ~XgboostMatrix();
  XgboostMatrix(const XgboostMatrix&) = delete;

  XgboostLibrary::Handle handle() const { return handle_; }
  /// Returns whether no value is missing, including those of the added row.
  bool is_dense() const;

 private:
  int create(RowFeed& feed, const MatrixPlan& plan, XgboostLibrary::Handle reference);
  void set_groups(const RowFeed& feed);
  void set_margins(const RowFeed& feed, std::uint64_t width);
  void set_bounds(const RowFeed& feed);

  const XgboostLibrary& xgboost_;
  XgboostLibrary::Handle handle_ = nullptr;
};

}  // namespace trainrt::frameworks::trees
