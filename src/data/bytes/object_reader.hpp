#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// Whether a path names an object of a storage beyond the file system: "s3://bucket/key".
bool is_object(const std::string& path);

/// The objects that a word of a source names, as list_data_files() says of files.
std::vector<DataFile> list_objects(const std::string& word);

/// The one of that name; nothing if it is not there.
std::optional<DataFile> find_object(const std::string& path);

/// Reads an object in ranges, several at the same time. What is read from its beginning to its end in small pieces, by one
/// thread or by several, each a part, is fetched ahead: four windows of 8 MiB at most are kept in a process. `file` lives
/// as long as the reader.
std::unique_ptr<FileReader> object_reader(const DataFile& file);

}  // namespace trainrt::data
