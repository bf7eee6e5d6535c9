#pragma once
#include <string>

namespace trainrt::config {

/// Values of the config section [lightgbm].
struct LightgbmKeys {
  std::string library;  ///< path of the LightGBM library; "": the library of the system
};

}  // namespace trainrt::config
