#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// Returns whether `text`, the value of the key `key` in a section [data.NAME], names files. This is the case for keys
/// of the type path, such as `source`, and for the value @FILE of other keys.
bool names_files(const std::string& key, const std::string& text);

/// Returns the files that a section reads in addition to the files of its samples. These are the @FILE values of
/// `subset`, `preprocess` and keys that make samples, in the order of the keys. Throws the errors of list_data_files().
std::vector<DataFile> referenced_files(const Options& options);

}  // namespace trainrt::data
