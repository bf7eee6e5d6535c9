#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [metrics].
struct MetricsKeys {
  std::vector<std::string> sinks;
  bool detailed = false;
  bool every_report = false;  ///< is shown, not one from time to time
  bool aggregate = false;     ///< all ranks' metrics count if the report leaves it open, not rank 0's
};

}  // namespace trainrt::config
