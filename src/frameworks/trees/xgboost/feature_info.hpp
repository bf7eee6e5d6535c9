#pragma once
#include <string>
#include <vector>

#include "frameworks/trees/table_layout.hpp"
#include "frameworks/trees/xgboost/xgboost_library.hpp"

namespace trainrt::frameworks::trees {

/// The names and types of the columns, which XGBoost needs for each matrix and booster.
class FeatureInfo {
 public:
  /// Throws UsageError for a name that XGBoost refuses.
  explicit FeatureInfo(const TableLayout& layout);
  void set_of_matrix(const XgboostLibrary& library, XgboostLibrary::Handle matrix) const;
  /// Sets the names and types of a booster. The booster saves them in the model.
  void set_of_booster(const XgboostLibrary& library, XgboostLibrary::Handle booster) const;

 private:
  using SetInfo = int(XgboostLibrary::Handle, const char*, const char**, std::uint64_t);
  void set_by(SetInfo* set_info, const XgboostLibrary& library, XgboostLibrary::Handle handle) const;

  std::vector<std::string> names_;  ///< empty if the columns have no names
  bool has_categories_ = false;
  std::vector<const char*> types_;
};

}  // namespace trainrt::frameworks::trees
