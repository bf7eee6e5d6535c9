#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// Returns whether `path` is the URL of an object or folder of an object store, such as "s3://bucket/key".
bool is_object(const std::string& path);

/// Returns the objects that one item of a source names: one object, all objects below a folder, or all objects that
/// match a pattern. The result may be empty.
std::vector<DataFile> list_objects(const std::string& word);

/// Returns the object with the URL `path`, or nullopt if it does not exist.
std::optional<DataFile> find_object(const std::string& path);

/// Returns a reader of an object, which requests several ranges from the store at the same time. For small reads in
/// sequence, it reads windows of 4 MiB and keeps them in the cache of this process (chunk_cache.hpp). This also works for
/// several threads if each reads its own section of the object in order. `file` must live as long as the reader.
std::unique_ptr<FileReader> object_reader(const DataFile& file);

}  // namespace trainrt::data
