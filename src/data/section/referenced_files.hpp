#pragma once
#include <string>
#include <vector>

#include "core/options.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// Returns whether the value `text` of the key `key` of a section [data.NAME] names files: keys of the type path such as
/// `source`, and @FILE of other keys.
bool names_files(const std::string& key, const std::string& text);

/// Returns the files that keys of a section name besides those of its samples: @FILE of `subset`, `preprocess` and keys
/// that make samples, in the order of the keys. Throws the errors of list_data_files().
std::vector<DataFile> referenced_files(const Options& options);

}  // namespace trainrt::data
