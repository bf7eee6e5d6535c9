#pragma once
#include <string>
#include <vector>

#include "frameworks/trees/booster.hpp"
#include "frameworks/trees/xgboost/feature_texts.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"
#include "frameworks/trees/xgboost/xgboost_log.hpp"

namespace trainrt::frameworks::trees {

/// XGBoost's model of a checkpoint for predictions: what Booster.predict() of its Python gives.
class XgboostModel final : public TrainedModel {
 public:
  /// `rounds`: so many of it count; 0: all.
  XgboostModel(Context& ctx, const TableLayout& layout, const std::string& model, int rounds);
  ~XgboostModel() override;
  XgboostModel(const XgboostModel&) = delete;

  std::size_t outputs() const override { return outputs_; }
  void predict(const RowBlock& block, std::vector<double>& values) override;

 private:
  XgboostLibrary::Handle matrix_of(const RowBlock& block) const;
  std::size_t outputs_of_a_row();

  const XgboostLibrary xgboost_;
  const XgboostLog log_;
  const TableLayout layout_;
  const FeatureTexts texts_;
  const int rounds_;
  XgboostLibrary::Handle handle_ = nullptr;
  std::size_t outputs_ = 1;
};

}  // namespace trainrt::frameworks::trees
