#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trainrt::data {

/// A file of a dataset as it was listed.
struct DataFile {
  std::string path;
  std::uint64_t size = 0;                 ///< bytes
  std::int64_t mtime_ns = 0;              ///< last change, since 1970
  std::string head = {};                  ///< digest of its first bytes, once it was looked at
  const struct ReadMethod* way = nullptr;    ///< how this rank reads it; by pread(2) if none is named
  std::vector<DataFile> companions = {};  ///< one for each of Format::companions that is given; an empty path if it is not
  std::string version = {};               ///< of an object: what its storage calls these bytes (its ETag)
  std::shared_ptr<const class BlockChecksums> checksums = {};  ///< verified with each reading; nullptr: none
};

/// The files that `source` names, sorted bytewise by path within each word: a file or an object ("s3://bucket/key"), a
/// folder (all files below it, without those whose name or folder begins with `.` or `_`), a pattern (`*`, `?`, `[a-z]`),
/// `@FILE` (a list: a word a line), or several such words between commas. Throws UsageError that names the word and what is
/// wrong if there is no file.
std::vector<DataFile> list_data_files(const std::string& source);

/// The path of the first of these files, by names alone: no file is looked at.
std::string first_path_of(const std::string& source);

/// The paths that a word other than @FILE names, sorted bytewise: by the names in folders, no file is looked at. Hidden
/// ones are left out. Throws as list_data_files() does.
std::vector<std::string> paths_of_word(const std::string& word);

/// The lines of a list that are neither empty nor comments (#), without blanks around them.
std::vector<std::string> lines_of_list(const std::string& path);

/// The words between its commas; one if it is itself the path of something that is there.
std::vector<std::string> words_of_source(const std::string& source);

/// One file, which must be there.
DataFile data_file(const std::string& path);

}  // namespace trainrt::data
