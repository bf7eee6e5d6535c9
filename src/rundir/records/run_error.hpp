#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include <trainrt/error.hpp>

namespace trainrt::rundir {

/// A rank does not see a path that rank 0 has made.
class PathNotShared : public UsageError {
 public:
  PathNotShared(const std::string& message, std::string path, std::string host, double waited_s)
      : UsageError(message), path_(std::move(path)), host_(std::move(host)), waited_s_(waited_s) {}
  const std::string& path() const { return path_; }
  const std::string& host() const { return host_; }  ///< that does not see it
  double waited_s() const { return waited_s_; }      ///< seconds

 private:
  std::string path_;
  std::string host_;
  double waited_s_;
};

/// The storage of runs cannot be written, for a reason that lies in its path or permissions.
class PathNotWritable : public UsageError {
 public:
  PathNotWritable(const std::string& message, std::string path) : UsageError(message), path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Another process runs this run now.
class RunIsOwned : public UsageError {
 public:
  RunIsOwned(const std::string& message, std::string run_dir, int attempt)
      : UsageError(message), run_dir_(std::move(run_dir)), attempt_(attempt) {}
  const std::string& run_dir() const { return run_dir_; }
  int attempt() const { return attempt_; }  ///< the one that runs

 private:
  std::string run_dir_;
  int attempt_;
};

/// The run is another user's, who is not trusted.
class ForeignRun : public UsageError {
 public:
  ForeignRun(const std::string& message, std::string path, unsigned owner)
      : UsageError(message), path_(std::move(path)), owner_(owner) {}
  const std::string& path() const { return path_; }  ///< what that user owns
  unsigned owner() const { return owner_; }          ///< number of that user

 private:
  std::string path_;
  unsigned owner_;
};

/// A run's records and its checkpoints contradict each other: something that was saved is not there.
class CheckpointsMissing : public UsageError {
 public:
  CheckpointsMissing(const std::string& message, std::string run_dir, std::int64_t newest)
      : UsageError(message), run_dir_(std::move(run_dir)), newest_(newest) {}
  const std::string& run_dir() const { return run_dir_; }
  std::int64_t newest() const { return newest_; }  ///< number of the newest checkpoint that is there; -1: none is

 private:
  std::string run_dir_;
  std::int64_t newest_;
};

/// Attempts of one Slurm job in a row have got no further (exit 76).
class NoProgress : public Error {
 public:
  NoProgress(const std::string& message, std::string run_dir, int attempts)
      : Error(message, ExitCode::no_progress), run_dir_(std::move(run_dir)), attempts_(attempts) {}
  const std::string& run_dir() const { return run_dir_; }
  int attempts() const { return attempts_; }  ///< how many

 private:
  std::string run_dir_;
  int attempts_;
};

}  // namespace trainrt::rundir
