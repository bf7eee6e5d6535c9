#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <trainrt/state.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/save/directories.hpp"
#include "io/files/file.hpp"

// Functions that copy files into a checkpoint, from the directories that the train function passed to report().
namespace trainrt::checkpoint {

/// Reads a file from the beginning to the end, in a directory that was passed to report(). All functions throw
/// DirectoryFileUnreadable if the file cannot be read or has changed. Such an error is a failure of the train function, not
/// of the run's storage.
class DirectoryFileReader {
 public:
  explicit DirectoryFileReader(const DirectoryFile& file);
  /// Reads the next into.size() bytes of the file into `into`. The file must have that many bytes left.
  void read(std::span<std::byte> into);
  /// Checks that the file ends at the current offset. Must be called after DirectoryFile::bytes bytes were read, to detect
  /// that the file has grown.
  void end();

 private:
  const DirectoryFile& file_;
  io::FileReader reader_;
};

/// Returns the manifest's entries of those files of a committed checkpoint that the user passed to report() in
/// directories: all entries except the files of `state`.
std::vector<FileRecord> carried_files(const std::string& checkpoint_dir, const State& state);

/// Adds the file `from` of a committed checkpoint to another checkpoint, under the unused path `to`. Creates a hard link,
/// or copies the file if the file system does not support that link. Throws Error if the copied bytes do not match the
/// digest in `record`.
void carry_file(const std::string& from, const FileRecord& record, const std::string& to);

}  // namespace trainrt::checkpoint
