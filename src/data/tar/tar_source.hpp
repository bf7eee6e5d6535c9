#pragma once
#include <memory>

#include "data/source/format.hpp"

namespace trainrt::data {

/// The functions `look` and `open` of the format tar (Format).
FileContent probe_tar(const DataFile& file, const Options& options);
std::unique_ptr<Source> open_tar(const DataFile& file, const FileContent& content, const Options& options, bool keep);

}  // namespace trainrt::data
