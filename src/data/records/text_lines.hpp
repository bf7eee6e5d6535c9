#pragma once
#include <memory>

#include "data/records/record_source.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// What Format::look and Format::open promise, of texts: the one field `text` is a line as it stands there.
FileContent probe_text_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_text_lines(const DataFile& file, const FileContent& content, const Options& options,
                                        bool keep);

}  // namespace trainrt::data
