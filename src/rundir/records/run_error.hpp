#pragma once
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::rundir {

/// A rank does not see a path that rank 0 has created.
class PathNotShared : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The storage of runs is not writable because of its path or permissions.
class PathNotWritable : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Another live process owns the run.
class RunIsOwned : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The run belongs to an untrusted user.
class ForeignRun : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Checkpoints that a run's records name are missing.
class CheckpointsMissing : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Several attempts of one Slurm job in a row have made no progress (exit code 76).
class NoProgress : public Error {
 public:
  explicit NoProgress(const std::string& message) : Error(message, ExitCode::no_progress) {}
};

}  // namespace trainrt::rundir
