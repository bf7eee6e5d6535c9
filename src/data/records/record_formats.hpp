#pragma once
#include <initializer_list>
#include <memory>
#include <string_view>

#include "data/bytes/input_file.hpp"
#include "data/records/record_source.hpp"
#include "data/source/format.hpp"

namespace trainrt::data {

// Implementations of Format::probe and Format::open for the formats csv, jsonl and text, in which each row or line is a
// sample. `keep`: the source keeps its values in memory, as for Format::open.

/// Limits of the probe of a file, which finds the rows of the complete file, but infers types only from its first records.
/// Tests use smaller limits.
struct RecordLimits {
  std::uint64_t spacing = RecordIndex::default_spacing;
  std::uint64_t max_probed = 10'000;          ///< maximum number of records from which types are inferred
  std::uint64_t max_probed_bytes = 64 << 20;  ///< maximum size of these records in bytes
};

FileContent probe_csv(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_csv(const DataFile& file, const FileContent& content, const Options& options, bool keep);

FileContent probe_json_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_json_lines(const DataFile& file, const FileContent& content, bool keep);

// Text files have one field, `text`. The value of a sample is a line of the file, without its line break.
FileContent probe_text_lines(const DataFile& file, const Options& options, const RecordLimits& limits);
std::unique_ptr<Source> open_text_lines(const DataFile& file, const FileContent& content, const Options& options,
                                        bool keep);

/// Opens a text file. Throws UsageError if the file is compressed; its message contains the command that decompresses the
/// file.
std::shared_ptr<const InputFile> open_text_file(const DataFile& file);

/// Returns whether a path has one of the endings. Also accepts an ending followed by `.gz`, so that the format of the file
/// is found and refuses the compressed file with a helpful message.
bool has_ending(std::string_view path, std::initializer_list<std::string_view> endings);

/// Returns the specification of the key `max_record_bytes`, which limits the memory that a damaged file can use.
OptionSpec max_record_bytes_option();

}  // namespace trainrt::data
