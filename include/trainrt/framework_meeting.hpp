#pragma once
#include <map>
#include <memory>
#include <string>

namespace trainrt {

/// The rendezvous of a framework that brings its own communication, as Context::framework() returns it.
struct FrameworkMeeting {
  /// Environment variables by which the framework's workers find each other: "DMLC_TRACKER_URI" -> "127.0.0.1".
  std::map<std::string, std::string, std::less<>> variables;
  int cpus = 1;  ///< number of CPUs that this rank may use
  /// Owns the service (such as a tracker) and the reserved ports. The runtime keeps a copy until the attempt has ended on
  /// all ranks, so that slow workers still reach the service.
  std::shared_ptr<const void> service;
};

}  // namespace trainrt
