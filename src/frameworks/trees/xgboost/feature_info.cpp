#include "frameworks/trees/xgboost/feature_info.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

constexpr std::string_view refused = "[]<";  // characters with a meaning in XGBoost's dumps of trees

}  // namespace

FeatureInfo::FeatureInfo(const TableLayout& layout) {
  for (const auto& feature : layout.features) {
    if (feature.name.find_first_of(refused) != std::string::npos)
      throw UsageError(
          fmt::format("the name of column '{}' contains one of the characters {}, which XGBoost refuses; rename the field",
                      feature.name, refused));
    names_.push_back(feature.name);
    has_categories_ = has_categories_ || feature.is_categorical;
    types_.push_back(feature.is_categorical ? "c" : "q");
  }
}

void FeatureInfo::set_of_matrix(const XgboostLibrary& library, XgboostLibrary::Handle matrix) const {
  set_by(library.set_feature_info, library, matrix);
}

void FeatureInfo::set_of_booster(const XgboostLibrary& library, XgboostLibrary::Handle booster) const {
  set_by(library.set_booster_feature_info, library, booster);
}

void FeatureInfo::set_by(SetInfo* set_info, const XgboostLibrary& library, XgboostLibrary::Handle handle) const {
  if (names_.empty()) return;
  std::vector<const char*> names;
  for (const auto& name : names_) names.push_back(name.c_str());
  library.check(set_info(handle, "feature_name", names.data(), names.size()));
  if (!has_categories_) return;
  auto types = types_;
  library.check(set_info(handle, "feature_type", types.data(), types.size()));
}

}  // namespace trainrt::frameworks::trees
