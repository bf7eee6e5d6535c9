#pragma once
#include <string>
#include <utility>
#include <vector>

#include <trainrt/error.hpp>

#include "io/storage_error.hpp"

namespace trainrt::checkpoint {

/// A save, or what follows one, makes no progress: the storage does not answer.
class SaveStalled : public Error {
 public:
  SaveStalled(const std::string& message, double waited_s) : Error(message), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds without progress

 private:
  double waited_s_;
};

/// This rank does not see a checkpoint's directory, which another rank has made.
class DirectoryNotSeen : public io::StorageError {
 public:
  DirectoryNotSeen(const std::string& message, int error_number, const std::string& path, double waited_s)
      : StorageError(message, error_number, path), waited_s_(waited_s) {}
  double waited_s() const { return waited_s_; }  ///< seconds

 private:
  double waited_s_;
};

/// Checkpoints exist and all of them are damaged, as readings by different ranks agree. A restart does not help.
class AllDamaged : public UsageError {
 public:
  /// `damages`: "checkpoint_000003: what is wrong with it", the newest first; the first few.
  AllDamaged(const std::string& message, std::string directory, std::vector<std::string> damages)
      : UsageError(message), directory_(std::move(directory)), damages_(std::move(damages)) {}
  const std::string& directory() const { return directory_; }  ///< the run's
  const std::vector<std::string>& damages() const { return damages_; }

 private:
  std::string directory_;
  std::vector<std::string> damages_;
};

/// A checkpoint is of another model than the State.
class StateDiffers : public UsageError {
 public:
  /// `differences`: a line a tensor, value or file.
  StateDiffers(const std::string& message, std::string directory, std::vector<std::string> differences)
      : UsageError(message), directory_(std::move(directory)), differences_(std::move(differences)) {}
  const std::string& directory() const { return directory_; }  ///< the checkpoint's
  const std::vector<std::string>& differences() const { return differences_; }

 private:
  std::string directory_;
  std::vector<std::string> differences_;
};

}  // namespace trainrt::checkpoint
