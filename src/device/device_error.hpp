#pragma once
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::device {

/// Thrown if a GPU does not finish its work within a timeout.
class GpuStalled : public Error {
 public:
  GpuStalled(const std::string& message, double waited_s) : Error(message), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds

 private:
  double waited_s_;
};

/// Thrown if a request for GPUs is invalid or cannot be met.
class GpusRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace trainrt::device
