#pragma once
#include <string>

namespace trainrt::config {

/// Values of the config section [xgboost].
struct XgboostKeys {
  std::string library;  ///< path of the XGBoost library; "": the library of the system
};

}  // namespace trainrt::config
