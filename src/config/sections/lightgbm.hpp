#pragma once
#include <string>

namespace trainrt::config {

/// The values of [lightgbm].
struct LightgbmKeys {
  std::string library;  ///< a path, "" = the system's
};

}  // namespace trainrt::config
