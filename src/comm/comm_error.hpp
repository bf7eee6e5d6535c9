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

/// A process that is waited for has ended. It was on the node of the rank that throws this.
class RankGone : public Error {
 public:
  using Error::Error;
};

/// A backend is asked for that does not exist.
class UnknownBackend : public UsageError {
 public:
  UnknownBackend(const std::string& message, std::string name) : UsageError(message), name_(std::move(name)) {}

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// A backend is asked for by name, and cannot serve here.
class BackendRefused : public UsageError {
 public:
  BackendRefused(const std::string& message, std::string name, std::string why)
      : UsageError(message), name_(std::move(name)), why_(std::move(why)) {}

  const std::string& name() const { return name_; }
  const std::string& why() const { return why_; }

 private:
  std::string name_;
  std::string why_;
};

/// The ranks are to open different backends.
class BackendsDiffer : public UsageError {
 public:
  BackendsDiffer(const std::string& message, int rank) : UsageError(message), rank_(rank) {}

  int rank() const { return rank_; }  ///< the first that differs from rank 0

 private:
  int rank_;
};

}  // namespace trainrt::comm
