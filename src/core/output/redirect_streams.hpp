#pragma once
#include <string>

#include "core/descriptor.hpp"

namespace trainrt {

/// Redirects standard output and standard error of this process to a file. While an object of this class exists, all output
/// of this process and its children, and the messages of the runtime, are appended to the file. At most one object may
/// exist, and no OutputCapture at the same time.
class RedirectedStreams {
 public:
  /// Redirects standard output and standard error to the file `path`, which is created if it does not exist. Throws Error
  /// if the file cannot be opened.
  explicit RedirectedStreams(const std::string& path);
  ~RedirectedStreams();
  RedirectedStreams(const RedirectedStreams&) = delete;
  RedirectedStreams& operator=(const RedirectedStreams&) = delete;

 private:
  Descriptor output_, error_;  ///< copies of the original streams, for the destructor
};

}  // namespace trainrt
