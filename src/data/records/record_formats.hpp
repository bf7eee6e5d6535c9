#pragma once
#include <memory>

#include "data/records/record_source.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

// The functions Format::probe and Format::open of the formats csv, jsonl and text. In these formats, each row or line is
// a sample.

/// Limits the part of a file from which probing infers types. Probing finds the rows of the complete file. Tests use
/// smaller limits.
struct RecordLimits {
  std::uint64_t spacing = RecordIndex::default_spacing;
  std::uint64_t max_probed = 10'000;          ///< records
  std::uint64_t max_probed_bytes = 64 << 20;  ///< bytes of the file
};

FileContent probe_csv(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_csv(const DataFile& file, const FileContent& content, const Options& options, bool keep);

FileContent probe_json_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_json_lines(const DataFile& file, const FileContent& content, bool keep);

/// Text files have one field, `text`. The value of a sample is a line, as in the file.
FileContent probe_text_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_text_lines(const DataFile& file, const FileContent& content, const Options& options,
                                        bool keep);

}  // namespace trainrt::data
