#pragma once
#include <trainrt/error.hpp>

namespace trainrt::comm {

/// Thrown if a collective takes longer than the communicator's timeout, because a rank or a GPU did not join it.
class CollectiveTimeout : public Error {
 public:
  using Error::Error;
};

/// Thrown if a collective waits for a rank that can no longer join the collective: the rank's process on the same node has
/// exited, or the rank is a thread of this process and has failed.
class RankGone : public Error {
 public:
  using Error::Error;
};

/// Thrown if the requested communication backend does not exist.
class UnknownBackend : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Thrown if a communication backend was requested by name but cannot be used for these ranks.
class BackendRefused : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Thrown if the ranks of a run request different communication backends.
class BackendsDiffer : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace trainrt::comm
