#pragma once
#include <string>

#include "core/descriptor.hpp"

namespace trainrt {

/// While an object lives, standard output and standard error of this process are appended to a file: all that the process
/// prints, its children print and the runtime logs. At most one object may exist, and no OutputCapture at the same time.
class RedirectedStreams {
 public:
  /// Throws Error if the file cannot be opened.
  explicit RedirectedStreams(const std::string& path);
  ~RedirectedStreams();
  RedirectedStreams(const RedirectedStreams&) = delete;
  RedirectedStreams& operator=(const RedirectedStreams&) = delete;

 private:
  Descriptor output_, error_;  ///< copies of the former streams
};

}  // namespace trainrt
