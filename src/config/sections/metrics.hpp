#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// The values of [metrics].
struct MetricsKeys {
  std::vector<std::string> sinks;
  bool detailed = false;
  bool every_report = false;  ///< show each report, not only an occasional one
  bool aggregate = false;     ///< combine all ranks' metrics if the report does not choose; else rank 0's are used
};

}  // namespace trainrt::config
