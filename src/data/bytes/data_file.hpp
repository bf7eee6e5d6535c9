#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::data {

/// A file of a dataset, or an object of an object store, with its state when it was listed.
struct DataFile {
  std::string path;
  std::uint64_t size = 0;                          ///< bytes
  std::int64_t mtime_ns = 0;                       ///< modification time in nanoseconds since 1970
  std::string head = {};                           ///< digest of the first bytes; empty until they are read
  const struct ReadMethod* read_method = nullptr;  ///< method by which this rank reads the file; nullptr: pread
  /// One file for each key of Format::companions that is set; a file with an empty path for a key that is not set.
  std::vector<DataFile> companions = {};
  std::string version = {};  ///< identifier of an object's content, assigned by the store (ETag)
  std::shared_ptr<const class BlockChecksums> checksums = {};  ///< verified each time the file is read; may be nullptr
};

/// Returns the files that `source` names. `source` is one or several words, separated by commas. A word is a file, an
/// object ("s3://bucket/key"), a folder (all files below it, except files and folders with names that begin with `.` or
/// `_`), a pattern (`*`, `?`, `[a-z]`), or `@FILE` (a list with one word per line). The files of a word are sorted by path,
/// in byte order. Throws UsageError, which quotes the word, if a word names no file.
std::vector<DataFile> list_data_files(const std::string& source);

/// Returns the path of the first file of list_data_files(), without access to that file.
std::string first_path_of(const std::string& source);

/// Returns the paths that one word of a source, other than `@FILE`, names on a file system: sorted by path, without access
/// to the files. Throws like list_data_files().
std::vector<std::string> paths_of_word(const std::string& word);

/// Returns the lines of the list `path`, without surrounding blanks, empty lines and comments (#). Throws UsageError if no
/// line remains.
std::vector<std::string> lines_of_list(const std::string& path);

/// Splits a source at its commas. A source that is itself an existing path is one word.
std::vector<std::string> words_of_source(const std::string& source);

/// Returns one file or object. Throws UsageError if it does not exist.
DataFile data_file(const std::string& path);

/// Returns whether a name below a folder, or the name of a folder in `relative`, begins with `.` or `_`.
bool is_hidden(std::string_view relative);

}  // namespace trainrt::data
