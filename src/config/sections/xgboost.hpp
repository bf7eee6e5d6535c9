#pragma once
#include <string>

namespace trainrt::config {

/// The values of [xgboost].
struct XgboostKeys {
  std::string library;  ///< path; "": the library of the system
};

}  // namespace trainrt::config
