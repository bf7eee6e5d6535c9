#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace trainrt::data {

/// A byte range of a file for which the file stores one CRC-32 (RFC 1952), such as a member of a zip archive. This
/// checksum can verify only the complete range, not a part of it (see BlockChecksums).
struct ChecksummedRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  std::string what;  ///< names the range in error messages: "NPZ file x.npz: the member 'y.npy'"
};

/// A file of a dataset, or an object of an object store. `size` and `mtime_ns` are the values when the file was listed.
struct DataFile {
  std::string path;
  std::uint64_t size = 0;                          ///< bytes
  std::int64_t mtime_ns = 0;                       ///< modification time in nanoseconds since 1970
  std::string head = {};                           ///< digest of the first bytes; empty until they are read
  const struct ReadMethod* read_method = nullptr;  ///< method by which this rank reads the file; nullptr: pread
  /// Further files that belong to this file, such as the file with its labels: one for each key in Format::companions. If
  /// a key is not set, the path of that key's file is empty.
  std::vector<DataFile> companions = {};
  std::string version = {};  ///< identifier of an object's content, assigned by the store (ETag)
  std::shared_ptr<const class BlockChecksums> checksums = {};  ///< verified each time the file is read; may be nullptr

  /// The members that PackedWriter encodes, for example as a part of an HDF5 file's index, which is sent to other ranks.
  static auto packed_members(auto& self) { return std::tie(self.path, self.size, self.mtime_ns); }
};

/// Returns the files that `source` names, a list of items separated by commas. An item is one of:
/// - a file, or an object ("s3://bucket/key")
/// - a folder: all files below it, except files and folders with names that begin with `.` or `_`
/// - a pattern (`*`, `?`, `[a-z]`)
/// - `@FILE`: a list of items, one per line
///
/// The files of each item are sorted by path, in byte order. Throws UsageError, which quotes the item, if an item names
/// no file.
std::vector<DataFile> list_data_files(const std::string& source);

/// Returns the path of the first file that list_data_files() would return, without access to that file. For a URL of an
/// object store, returns the URL in the form of io::url_in_bucket(), with the options before the bucket.
std::string first_path_of(const std::string& source);

/// Returns the paths of the files that one item of a source names: the files of a folder, those that match a pattern,
/// or one file. The item must not be `@FILE` or an object. The paths are sorted, and the files are not opened. Throws
/// like list_data_files().
std::vector<std::string> paths_of_word(const std::string& word);

/// Returns the lines of the list `path`, without surrounding blanks, empty lines and comments (#). Throws UsageError if no
/// line remains.
std::vector<std::string> lines_of_list(const std::string& path);

/// Splits a source into items at its commas. If the complete source is an existing path, it is one item, even if it
/// contains a comma.
std::vector<std::string> words_of_source(const std::string& source);

/// Returns the file or object at `path`. Throws UsageError if it does not exist.
DataFile data_file(const std::string& path);

/// Returns whether the name of the file, or of a folder in its relative path, begins with `.` or `_`. A dataset leaves
/// out such files.
bool is_hidden(std::string_view relative);

}  // namespace trainrt::data
