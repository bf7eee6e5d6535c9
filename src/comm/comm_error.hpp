#pragma once
#include <trainrt/error.hpp>

namespace trainrt::comm {

/// Thrown if a collective takes longer than the communicator's timeout, because a rank or a GPU did not join it.
class CollectiveTimeout : public Error {
 public:
  using Error::Error;
};

/// Thrown if the process of a rank that a collective waits for has exited. That rank ran on the node of the throwing rank.
class RankGone : public Error {
 public:
  using Error::Error;
};

/// Thrown if a backend is requested that does not exist.
class UnknownBackend : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Thrown if a backend is requested by name and cannot be used for these ranks.
class BackendRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Thrown if the ranks request different backends.
class BackendsDiffer : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace trainrt::comm
