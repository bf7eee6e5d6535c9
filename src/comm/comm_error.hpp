#pragma once
#include <string>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::comm {

/// Thrown if a collective takes longer than the communicator's timeout, because a rank or a GPU did not join it.
class CollectiveTimeout : public Error {
 public:
  /// `operation`: the collective, for example "all_reduce of 'x'". `missing`: the ranks that did not join, or "" if they
  /// are not known.
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

/// Thrown if the process of a rank that a collective waits for has exited. That rank ran on the node of the throwing rank.
class RankGone : public Error {
 public:
  using Error::Error;
};

/// Thrown if a backend is requested that does not exist.
class UnknownBackend : public UsageError {
 public:
  UnknownBackend(const std::string& message, std::string name) : UsageError(message), name_(std::move(name)) {}

  const std::string& name() const { return name_; }

 private:
  std::string name_;
};

/// Thrown if a backend is requested by name and cannot be used for these ranks.
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

/// Thrown if the ranks request different backends.
class BackendsDiffer : public UsageError {
 public:
  BackendsDiffer(const std::string& message, int rank) : UsageError(message), rank_(rank) {}

  int rank() const { return rank_; }  ///< the lowest rank whose backend differs from that of rank 0

 private:
  int rank_;
};

}  // namespace trainrt::comm
