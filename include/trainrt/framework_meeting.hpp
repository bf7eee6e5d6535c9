#pragma once
#include <map>
#include <memory>
#include <string>

namespace trainrt {

/// The settings with which a rank joins the workers of a framework with its own communication, such as XGBoost. Returned by
/// Context::framework().
struct FrameworkMeeting {
  /// Environment variables through which the framework's workers find each other, by name: "DMLC_TRACKER_URI" ->
  /// "127.0.0.1".
  std::map<std::string, std::string, std::less<>> variables;
  int cpus = 1;  ///< number of CPUs that this rank may use
  /// Owner of the framework's service (such as a tracker) and of the reserved ports. The runtime keeps a copy until the
  /// attempt has ended on all ranks, so that slow workers can still reach the service.
  std::shared_ptr<const void> service;
};

}  // namespace trainrt
