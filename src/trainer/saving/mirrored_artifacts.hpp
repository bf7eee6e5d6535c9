#pragma once
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <string>

#include "checkpoint/mirrored_run.hpp"

namespace trainrt::trainer {

/// Copies the files below artifacts/ of a run directory to the run's mirror. The train function may write them at any time.
/// A file is copied at the first call and whenever its size or its time has changed since. Links are not followed. Files
/// with a control character in their name are left out, since they could not be copied back; a warning names the first one.
/// Must be used by one thread at a time.
class MirroredArtifacts {
 public:
  explicit MirroredArtifacts(std::string run_dir) : run_dir_(std::move(run_dir)) {}

  /// Returns whether the folder has any entry. A link is not a folder.
  bool exist() const;
  /// Copies the new and changed files to `mirror`. Leaves out files that were removed meanwhile. If a file cannot be
  /// copied, the other files are copied nevertheless, and the first error is thrown at the end. Throws StorageError at once
  /// if the storage is unavailable.
  void copy_to(checkpoint::MirroredRun& mirror);

 private:
  struct Version {
    std::uintmax_t bytes = 0;
    std::filesystem::file_time_type changed;
    bool operator==(const Version&) const = default;
  };
  void copy_entry(checkpoint::MirroredRun& mirror, const std::string& name);
  void copy_file(checkpoint::MirroredRun& mirror, const std::string& name);
  bool may_have_name(const std::string& name);

  std::string run_dir_;
  std::map<std::string, Version> copied_;  // by path in the run directory
  std::exception_ptr first_error_;         // of the running copy_to()
  bool has_warned_ = false;
};

}  // namespace trainrt::trainer
