#pragma once
#include <string>

namespace trainrt::config {

/// The values of [xgboost].
struct XgboostKeys {
  std::string library;  ///< a path, "" = the system's
};

}  // namespace trainrt::config
