#pragma once
#include <memory>

#include "data/records/record_source.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

/// What Format::look and Format::open promise, of JSON lines.
FileContent probe_json_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_json_lines(const DataFile& file, const FileContent& content, bool keep);

}  // namespace trainrt::data
