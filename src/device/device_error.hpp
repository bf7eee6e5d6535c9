#pragma once
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::device {

/// A GPU has not done what it was given within the limit.
class GpuStalled : public Error {
 public:
  GpuStalled(const std::string& message, double waited_s) : Error(message), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds

 private:
  double waited_s_;
};

/// A request for GPUs is not valid, or cannot be met.
class GpusRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace trainrt::device
