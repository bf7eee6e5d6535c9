#pragma once
#include <string>

namespace trainrt::data {

/// Whether the value `text` of the key `key` of a section [data.NAME] names files: that of `source` and of other keys of
/// the type path, @FILE, and the files that transforms read.
bool names_files(const std::string& key, const std::string& text);

}  // namespace trainrt::data
