#pragma once
#include <string>

namespace trainrt::config {

/// The values of [lightgbm].
struct LightgbmKeys {
  std::string library;  ///< path; "": the library of the system
};

}  // namespace trainrt::config
