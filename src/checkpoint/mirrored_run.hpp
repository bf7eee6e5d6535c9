#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/files/file.hpp"
#include "io/storage.hpp"

namespace trainrt::checkpoint {

/// A committed checkpoint whose files are open: it can be copied whole, whatever becomes of its directory.
class HeldCheckpoint {
 public:
  /// Throws Error if it is not there, or cannot be read.
  HeldCheckpoint(const std::string& run_dir, std::int64_t number);
  std::int64_t number() const { return number_; }
  /// Its text.
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

/// A copy of a run's finished checkpoints in a storage, below one prefix, under the names that they have in the run
/// directory. One whose manifest is there is complete: it is put last, and removed first. What can be derived (state.h5) is
/// left out. One caller at a time. All throw what the storage does.
class MirroredRun {
 public:
  /// `prefix`: "" or ends with a slash.
  MirroredRun(std::shared_ptr<io::Storage> storage, std::string prefix);

  std::string url() const { return storage_->url_of(prefix_); }
  /// Numbers of the checkpoints that are complete, ascending, and of those that are not.
  struct Numbers {
    std::vector<std::int64_t> complete, begun;
  };
  Numbers numbers() const;
  /// The text of its manifest, which tells one checkpoint of that number from another: it has the attempt, the time and
  /// the digests. "" if it is not complete there.
  std::string manifest_of(std::int64_t number) const;
  /// Returns whether all files of the checkpoint are there: the same manifest, and the others with their sizes.
  bool holds(const HeldCheckpoint& checkpoint) const;
  void put(const HeldCheckpoint& checkpoint);
  void remove(std::int64_t number);
  /// Brings it into `run_dir`, which is there, durable; not verified.
  void bring(std::int64_t number, const std::string& run_dir) const;

  /// Any other file, "attempts/000001.json".
  void put_file(const std::string& run_dir, const std::string& name);
  /// Of the run that was there, checkpoints apart: run.json last, so that a part of them is still that run's.
  void remove_records();
  std::vector<std::string> files_in(const std::string& folder) const;
  /// False if it is not there.
  bool bring_file(const std::string& name, const std::string& run_dir) const;
  /// "" if it is not there. Of more than 64 MiB an Error.
  std::string text_of(const std::string& name) const;

  /// Of its checkpoints' files, as processes leave them that are killed while they send one.
  std::vector<io::UnfinishedUpload> unfinished_uploads() const;
  void abort_upload(const io::UnfinishedUpload& upload) { storage_->abort_upload(upload); }

  void interrupt() { storage_->interrupt(); }

 private:
  void bring_object(const io::StoredObject& object, const std::string& path) const;

  std::shared_ptr<io::Storage> storage_;
  std::string prefix_;
};

}  // namespace trainrt::checkpoint
