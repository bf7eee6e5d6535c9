#pragma once
#include <string>
#include <vector>

namespace trainrt::config {

/// Values of the config section [metrics]: the sinks that get metric records, and which metrics are recorded.
struct MetricsKeys {
  std::vector<std::string> sinks;  ///< names of the sinks that reports are written to
  bool detailed = false;           ///< true: add columns such as _hostname, _step and _goodput to every report
  bool every_report = false;       ///< true: show each report on the terminal, not only an occasional one
  /// true: trainrt.train.report() combines the metrics of all ranks by default; false: it reports rank 0's metrics
  bool aggregate = false;
};

}  // namespace trainrt::config
