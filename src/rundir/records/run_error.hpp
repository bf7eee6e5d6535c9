#pragma once
#include <string>

#include <trainrt/error.hpp>

namespace trainrt::rundir {

/// Error: a rank does not see a path that rank 0 has created, so the storage is not shared by all nodes.
class PathNotShared : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Error: the folder of run directories is not writable, because of its path or permissions.
class PathNotWritable : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Error: the run cannot be started, because another live process owns its run directory.
class RunIsOwned : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Error: the run directory belongs to another user who is not trusted.
class ForeignRun : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Error: checkpoints that the records of a run's attempts name are missing.
class CheckpointsMissing : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Error: several consecutive attempts in one Slurm job have made no progress (exit code 76).
class NoProgress : public Error {
 public:
  explicit NoProgress(const std::string& message) : Error(message, ExitCode::no_progress) {}
};

}  // namespace trainrt::rundir
