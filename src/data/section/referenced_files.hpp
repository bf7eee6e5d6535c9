#pragma once
#include <vector>

#include "core/options.hpp"
#include "data/bytes/data_file.hpp"

namespace trainrt::data {

/// The files that keys of a section name beside those of its samples, and whose contents count: @FILE of `rows`,
/// `preprocess` and operations, and what transforms read, such as a tokenizer. In the order of the keys; throws as
/// list_data_files() does.
std::vector<DataFile> referenced_files(const Options& options);

}  // namespace trainrt::data
