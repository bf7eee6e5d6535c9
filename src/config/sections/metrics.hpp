#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [metrics].
struct MetricsKeys {
  std::vector<std::string> sinks;
  bool detailed = false;
  bool every_report = false;  ///< is shown, not one from time to time
};

}  // namespace trainrt::config
