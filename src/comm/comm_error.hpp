#pragma once
#include <string>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::comm {

/// A collective has taken longer than the communicator's limit: some rank, or a GPU, did not come to it.
class CollectiveTimeout : public Error {
 public:
  /// `operation`: "all_reduce of 'x'". `missing`: who was waited for, "" if that is not known.
  CollectiveTimeout(const std::string& message, std::string operation, double waited_s, std::string missing)
      : Error(message), operation_(std::move(operation)), missing_(std::move(missing)), waited_s_(waited_s) {}

  const std::string& operation() const { return operation_; }
  const std::string& missing() const { return missing_; }
  double waited_s() const { return waited_s_; }  ///< seconds

 private:
  std::string operation_;
  std::string missing_;
  double waited_s_;
};

}  // namespace trainrt::comm
