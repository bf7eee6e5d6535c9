#pragma once
#include <map>
#include <memory>
#include <string>

namespace trainrt {

/// What the ranks need of a framework that brings communication of its own, to find each other: Context::framework().
struct FrameworkMeeting {
  /// What a program of that framework finds in its environment: "DMLC_TRACKER_URI" -> "127.0.0.1".
  std::map<std::string, std::string, std::less<>> variables;
  int cpus = 1;  ///< that this rank has for itself
  /// What the runtime serves (a tracker), and the ports that are kept: until the attempt ends on all ranks, so that workers
  /// which end later than the first rank's find it.
  std::shared_ptr<const void> service;
};

}  // namespace trainrt
