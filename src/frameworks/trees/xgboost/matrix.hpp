#pragma once
#include <optional>
#include <string>

#include "frameworks/trees/table_rows.hpp"
#include "frameworks/trees/xgboost/label_rule.hpp"
#include "frameworks/trees/xgboost/row_feed.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// How XGBoost is to hold the data.
struct MatrixPlan {
  enum class Kind { quantile, plain, external };
  Kind kind = Kind::quantile;
  int threads = 1;
  std::string max_bin = "256";        ///< as the parameter has it
  std::optional<CountlessRow> added;  ///< to this rank's rows
  LabelRule labels;
  std::string cache;  ///< external: what the names of the files of its pages begin with
};

/// A rank's rows of one dataset as XGBoost holds them.
class XgboostMatrix {
 public:
  /// Reads the rows, several times but in blocks: they are never there twice. `reference`: the training matrix of an
  /// evaluation set, whose bins it takes over; else nullptr. Collective if XGBoost's communicator is open.
  XgboostMatrix(const XgboostLibrary& library, TableRows& rows, const MatrixPlan& plan, const XgboostMatrix* reference);
  ~XgboostMatrix();
  XgboostMatrix(const XgboostMatrix&) = delete;

  XgboostLibrary::Handle handle() const { return handle_; }
  /// No value is missing, in the row that was added neither.
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
