#pragma once
#include <string>
#include <vector>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/xgboost/feature_info.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"
#include "frameworks/trees/xgboost/xgboost_log.hpp"

namespace trainrt::frameworks::trees {

/// The XGBoost model of a checkpoint. Its predictions are the same as those of Booster.predict() of XGBoost's Python
/// package.
class XgboostModel final : public TrainedModel {
 public:
  /// `rounds`: number of rounds to use; 0 uses all.
  XgboostModel(Context& ctx, const TableLayout& layout, const std::string& model, int rounds);
  ~XgboostModel() override;
  XgboostModel(const XgboostModel&) = delete;

  std::size_t outputs() const override { return outputs_; }
  void predict(const RowBlock& block, std::vector<double>& values) override;

 private:
  XgboostLibrary::Handle matrix_of(const RowBlock& block) const;
  std::size_t outputs_per_row();

  const XgboostLibrary xgboost_;
  const XgboostLog log_;
  const TableLayout layout_;
  const FeatureInfo info_;
  const int rounds_;
  XgboostLibrary::Handle handle_ = nullptr;
  std::size_t outputs_ = 1;
};

}  // namespace trainrt::frameworks::trees
