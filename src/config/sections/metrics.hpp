#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// Values of the config section [metrics]: the sinks that get metric records, and which metrics are recorded.
struct MetricsKeys {
  std::vector<std::string> sinks;
  bool detailed = false;
  bool every_report = false;  ///< show each report on the terminal, not only an occasional one
  bool aggregate =
      false;  ///< combine the metrics of all ranks if the report does not choose; otherwise rank 0's metrics are used
};

}  // namespace trainrt::config
