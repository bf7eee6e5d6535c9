#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/save/directories.hpp"
#include "io/files/file.hpp"

// Functions that copy files of directories, which were passed to report(), into a checkpoint.
namespace trainrt::checkpoint {

/// Reads a file of a directory that was passed to report(), from the beginning to the end. All functions throw
/// DirectoryFileUnreadable, which reports a failure of the train function and not of the run's storage.
class DirectoryFileReader {
 public:
  explicit DirectoryFileReader(const DirectoryFile& file);
  /// Reads the next into.size() bytes.
  void read(std::span<std::byte> into);
  /// Requires that no bytes remain: the file has the size that was listed.
  void end();

 private:
  const DirectoryFile& file_;
  io::FileReader reader_;
};

/// Returns the files of a committed checkpoint that come from directories passed to report(): all files except those of the
/// State.
std::vector<FileRecord> carried_files(const std::string& checkpoint_dir, const State& state);

/// Adds a file of a committed checkpoint to another checkpoint, at the unused path `to`. Creates a hard link, or copies the
/// file if the file system cannot link it. Throws Error if the copy does not match `record`.
void carry_file(const std::string& from, const FileRecord& record, const std::string& to);

}  // namespace trainrt::checkpoint
