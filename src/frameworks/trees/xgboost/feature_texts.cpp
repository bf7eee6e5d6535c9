#include "frameworks/trees/xgboost/feature_texts.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::frameworks::trees {

namespace {

/// XGBoost refuses these in names, which its dumps of trees would break at.
constexpr std::string_view refused = "[]<";

}  // namespace

FeatureTexts::FeatureTexts(const TableLayout& layout) {
  for (const auto& feature : layout.features) {
    if (feature.name.find_first_of(refused) != std::string::npos)
      throw UsageError(fmt::format("the column '{}' has one of the characters {} in its name, which XGBoost refuses",
                                   feature.name, refused));
    names_.push_back(feature.name);
    has_categories_ = has_categories_ || feature.is_categorical;
    types_.push_back(feature.is_categorical ? "c" : "q");
  }
}

void FeatureTexts::set(const XgboostLibrary& library, XgboostLibrary::Handle matrix) const {
  set_by(library.set_feature_info, library, matrix);
}

void FeatureTexts::set_of_booster(const XgboostLibrary& library, XgboostLibrary::Handle booster) const {
  set_by(library.set_booster_feature_info, library, booster);
}

void FeatureTexts::set_by(SetInfo* set_info, const XgboostLibrary& library, XgboostLibrary::Handle handle) const {
  if (names_.empty()) return;
  std::vector<const char*> names;
  for (const auto& name : names_) names.push_back(name.c_str());
  library.check(set_info(handle, "feature_name", names.data(), names.size()));
  if (!has_categories_) return;
  auto types = types_;
  library.check(set_info(handle, "feature_type", types.data(), types.size()));
}

}  // namespace trainrt::frameworks::trees
