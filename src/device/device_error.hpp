#pragma once
#include <trainrt/error.hpp>

namespace trainrt::device {

/// Thrown if a GPU does not finish its work within a timeout.
class GpuStalled : public Error {
 public:
  using Error::Error;
};

/// Thrown if a request for GPUs is invalid or cannot be met.
class GpusRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace trainrt::device
