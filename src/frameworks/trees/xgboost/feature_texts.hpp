#pragma once
#include <string>
#include <vector>

#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// The names of the columns, and which are categories, as XGBoost wants to hear them of each matrix.
class FeatureTexts {
 public:
  explicit FeatureTexts(const TableLayout& layout);
  void set(const XgboostLibrary& library, XgboostLibrary::Handle matrix) const;
  /// The same of a booster, whose model keeps them.
  void set_of_booster(const XgboostLibrary& library, XgboostLibrary::Handle booster) const;

 private:
  using SetInfo = int(XgboostLibrary::Handle, const char*, const char**, std::uint64_t);
  void set_by(SetInfo* set_info, const XgboostLibrary& library, XgboostLibrary::Handle handle) const;

  std::vector<std::string> names_;  // empty: the columns have none
  bool has_categories_ = false;
  std::vector<const char*> types_;
};

}  // namespace trainrt::frameworks::trees
