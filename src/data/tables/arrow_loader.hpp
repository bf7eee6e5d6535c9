#pragma once
#include <memory>
#include <string>
#include <vector>

#include "data/source/format.hpp"
#include "data/tables/table_abi.hpp"

// Functions for Parquet and Arrow files. The first call loads the module arrow.so. For a damaged file, all functions throw
// UsageError, which names the file and the damage. They also throw UsageError if the module is not installed; its message
// explains how to install the module.
namespace trainrt::data {

/// Implements Format::probe for the format `format`, "parquet" or "arrow".
FileContent probe_arrow_file(const char* format, const DataFile& file, const Options& options);

/// Implements Format::open for the format `format`. Arrow's own buffers take at most max_expanded_bytes.
std::unique_ptr<Source> open_arrow_file(const char* format, const DataFile& file, const FileContent& content,
                                        const Options& options, bool keep);

/// Returns an encoder for a file of the format `format`, which must be "parquet". Throws UsageError, which names the field,
/// if the file cannot store a field.
std::unique_ptr<TableEncoder> make_arrow_encoder(const char* format, const std::vector<Dataset::Field>& fields,
                                                 const std::string& compression);

}  // namespace trainrt::data
