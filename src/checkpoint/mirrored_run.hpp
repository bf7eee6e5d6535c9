#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/file.hpp"
#include "io/storage.hpp"

namespace trainrt::checkpoint {

/// Holds all files of a committed checkpoint open, so that it can be copied even if its directory is deleted meanwhile.
class HeldCheckpoint {
 public:
  /// Opens the files of checkpoint `number`. Throws Error if it does not exist or cannot be read.
  HeldCheckpoint(const std::string& run_dir, std::int64_t number);
  std::int64_t number() const { return number_; }
  /// Returns the text of its manifest.
  std::string manifest() const;

 private:
  friend class MirroredRun;
  struct File {
    std::string name;
    io::Descriptor file;
  };
  std::int64_t number_;
  std::vector<File> files_;  // the manifest last
};

/// Manages the copy of a run's checkpoints and records in a storage, below one prefix, under the names that they have in
/// the run directory. A checkpoint is complete if its manifest exists: the manifest is copied last and removed first.
/// state.h5, which can be derived, is not copied. Must be used by one thread at a time, except interrupt(). All functions
/// throw the errors of the storage.
class MirroredRun {
 public:
  /// `prefix` is empty or ends with a slash.
  MirroredRun(std::shared_ptr<io::Storage> storage, std::string prefix);

  std::string url() const { return storage_->url_of(prefix_); }
  /// The numbers of complete and of incomplete checkpoints, each in ascending order.
  struct Numbers {
    std::vector<std::int64_t> complete, begun;
  };
  Numbers numbers() const;
  /// Returns the text of a checkpoint's manifest, "" if the checkpoint is not complete. Its attempt, time and digests
  /// distinguish it from another checkpoint of that number.
  std::string manifest_of(std::int64_t number) const;
  /// Returns whether the storage has the same manifest, and all other files with their sizes.
  bool holds(const HeldCheckpoint& checkpoint) const;
  /// Copies all files of the checkpoint into the storage, the manifest last.
  void put(const HeldCheckpoint& checkpoint);
  /// Removes a checkpoint from the storage, the manifest first.
  void remove(std::int64_t number);
  /// Copies a checkpoint into the existing directory `run_dir` and makes it durable. Does not verify its digests.
  void bring(std::int64_t number, const std::string& run_dir) const;

  /// Copies another file of the run into the storage, for example "attempts/000001.json".
  void put_file(const std::string& run_dir, const std::string& name);
  /// Removes the records of the run from the storage, but no checkpoints. run.json is removed last, so that remaining
  /// records still belong to a run.
  void remove_records();
  /// Returns the names of the files below `folder`, without the folder.
  std::vector<std::string> files_in(const std::string& folder) const;
  /// Copies a file into `run_dir`. Returns false if the storage does not have it.
  bool bring_file(const std::string& name, const std::string& run_dir) const;
  /// Returns the contents of a file, "" if it does not exist. Throws Error if it is larger than 64 MiB.
  std::string text_of(const std::string& name) const;

  /// Returns uploads of checkpoint files that were never completed, because a process was killed while it sent one.
  std::vector<io::UnfinishedUpload> unfinished_uploads() const;
  void abort_upload(const io::UnfinishedUpload& upload) { storage_->abort_upload(upload); }

  /// Makes running and later calls fail soon. Any thread may call it.
  void interrupt() { storage_->interrupt(); }

 private:
  std::vector<io::StoredObject> objects_below(const std::string& folder) const;
  std::optional<io::StoredObject> find(const std::string& name) const;
  void remove_object(const std::string& name);
  void bring_object(const io::StoredObject& object, const std::string& path) const;

  std::shared_ptr<io::Storage> storage_;
  std::string prefix_;
};

}  // namespace trainrt::checkpoint
