#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/file.hpp"
#include "io/storage.hpp"

namespace trainrt::checkpoint {

/// Holds all files of a committed checkpoint open, so that the checkpoint can still be copied after its directory was
/// deleted.
class HeldCheckpoint {
 public:
  /// Opens all files of checkpoint `number` of the run directory. Throws Error if the checkpoint does not exist or cannot
  /// be read.
  HeldCheckpoint(const std::string& run_dir, std::int64_t number);
  std::int64_t number() const { return number_; }
  /// Returns the text of the checkpoint's manifest.
  std::string manifest() const;

 private:
  friend class MirroredRun;
  struct File {
    std::string name;
    io::Descriptor file;
  };
  std::int64_t number_;
  std::vector<File> files_;  // the open files of the checkpoint, the manifest last
};

/// Manages a mirror: a copy of a run's checkpoints and records in an object store or a folder (io::Storage). All objects
/// of a mirror have the same prefix. The name of an object is this prefix, followed by the file's path in the run
/// directory.
/// - A mirrored checkpoint is complete if its manifest exists: the manifest is copied last and removed first.
/// - state.h5, which can be rebuilt from the other files, is not copied.
/// - Must be used by one thread at a time, except interrupt().
/// - All functions throw the errors of the storage.
class MirroredRun {
 public:
  /// `prefix` is the beginning of all object names in the storage. It is empty or ends with a slash.
  MirroredRun(std::shared_ptr<io::Storage> storage, std::string prefix);

  std::string url() const { return storage_->url_of(prefix_); }
  /// Checkpoint numbers in the mirror, in ascending order: `complete` checkpoints have a manifest, `begun` ones do not.
  struct Numbers {
    std::vector<std::int64_t> complete, begun;
  };
  Numbers numbers() const;
  /// Returns the text of the manifest of mirrored checkpoint `number`, or "" if that checkpoint is not complete. Two
  /// checkpoints with the same number are distinguished by the attempt, time and digests in their manifests.
  std::string manifest_of(std::int64_t number) const;
  /// Returns whether the storage has a complete copy of the checkpoint: the same manifest, and all other files with the
  /// right sizes.
  bool holds(const HeldCheckpoint& checkpoint) const;
  /// Copies all files of the checkpoint into the storage, the manifest last.
  void put(const HeldCheckpoint& checkpoint);
  /// Removes all files of checkpoint `number` from the storage, the manifest first.
  void remove(std::int64_t number);
  /// Copies checkpoint `number` from the storage into the existing directory `run_dir`, and makes the files durable
  /// (fsync). Does not verify digests.
  void bring(std::int64_t number, const std::string& run_dir) const;

  /// Copies one file of the run directory that does not belong to a checkpoint into the storage, for example
  /// "attempts/000001.json".
  void put_file(const std::string& run_dir, const std::string& name);
  /// Removes the run's records (attempts/, result.json, params.json, trainer.json, run.json) and artifacts/ from the
  /// storage, but no checkpoints. run.json is removed last, so that records left after an interruption still belong to a
  /// known run.
  void remove_records();
  /// Returns the names of the objects in the storage below `folder`, relative to `folder`.
  std::vector<std::string> files_in(const std::string& folder) const;
  /// Copies the file `name` from the storage into `run_dir`. Returns false if the storage does not have the file.
  bool bring_file(const std::string& name, const std::string& run_dir) const;
  /// Returns the contents of file `name` in the storage, or "" if the file does not exist. Throws Error if it is larger
  /// than 64 MiB.
  std::string text_of(const std::string& name) const;

  /// Returns unfinished multipart uploads of checkpoint files in the storage. An upload stays unfinished if its process
  /// is killed.
  std::vector<io::UnfinishedUpload> unfinished_uploads() const;
  void abort_upload(const io::UnfinishedUpload& upload) { storage_->abort_upload(upload); }

  /// Makes running and later calls of the storage fail soon, so that a thread which waits for the storage can end.
  /// Thread-safe.
  void interrupt() { storage_->interrupt(); }

 private:
  std::vector<io::StoredObject> objects_below(const std::string& folder) const;
  std::optional<io::StoredObject> find(const std::string& name) const;
  void remove_object(const std::string& name);

  std::shared_ptr<io::Storage> storage_;
  std::string prefix_;
};

}  // namespace trainrt::checkpoint
