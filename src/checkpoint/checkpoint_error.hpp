#pragma once
#include <string>
#include <utility>
#include <vector>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

/// Exception thrown if the storage does not respond for too long while trainrt saves a checkpoint, or while it writes
/// state.h5 or deletes old checkpoints afterwards.
class SaveStalled : public Error {
 public:
  SaveStalled(const std::string& message, double waited_s) : Error(message), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds that the save waited without progress

 private:
  double waited_s_;
};

/// Exception thrown if a checkpoint directory that rank 0 created on shared storage does not become visible on this rank.
class DirectoryNotSeen : public io::StorageError {
 public:
  DirectoryNotSeen(const std::string& message, int error_number, const std::string& path, double waited_s)
      : StorageError(message, error_number, path), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds that this rank waited for the directory

 private:
  double waited_s_;
};

/// Exception thrown if a run has checkpoints and all of them are damaged, confirmed by reading them again on other ranks.
/// Restarting the job does not help.
class AllDamaged : public UsageError {
 public:
  /// `damages` has one line per damaged checkpoint, such as "checkpoint_000003: REASON", newest first. Only the first few
  /// checkpoints are listed.
  AllDamaged(const std::string& message, std::string directory, std::vector<std::string> damages)
      : UsageError(message), directory_(std::move(directory)), damages_(std::move(damages)) {}
  const std::string& directory() const { return directory_; }  ///< Returns the path of the run directory.
  const std::vector<std::string>& damages() const { return damages_; }

 private:
  std::string directory_;
  std::vector<std::string> damages_;
};

/// Exception thrown if the tensors, values or files of a checkpoint do not match those of the State that is to be restored.
class StateDiffers : public UsageError {
 public:
  /// `differences` has one line per tensor, value or file that does not match between State and checkpoint.
  StateDiffers(const std::string& message, std::string directory, std::vector<std::string> differences)
      : UsageError(message), directory_(std::move(directory)), differences_(std::move(differences)) {}
  const std::string& directory() const { return directory_; }  ///< Returns the path of the checkpoint directory.
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  std::string directory_;
  std::vector<std::string> differences_;
};

}  // namespace trainrt::checkpoint
