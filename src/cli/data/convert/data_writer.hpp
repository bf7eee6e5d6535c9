#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

#include "cli/data/convert/resumable_file.hpp"
#include "core/plugin.hpp"
#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

/// Consecutive rows of the output, with a column for each field of the writer.
struct RowBlock {
  std::uint64_t first = 0, count = 0;
  std::vector<data::Column> columns;
};

/// Rows that RowWriter::prepare() has encoded and RowWriter::append() has not written yet.
struct PreparedRows {
  virtual ~PreparedRows() = default;
};

/// Writes the rows of one file, block by block. Throws Error that names the file if its storage fails.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// Encodes a block, and writes it if its position in the file is known. Several threads call this function, in any
  /// order of the blocks.
  virtual std::unique_ptr<PreparedRows> prepare(RowBlock block) = 0;
  /// Appends a prepared block. Called in the order of the rows, by one thread at a time.
  virtual void append(std::unique_ptr<PreparedRows>) {}
  /// Returns the position after the last appended block, from which another writer can resume (ResumableFile::done()).
  virtual std::string position() const { return {}; }
  /// Completes the file after the last block. Returns its size in bytes.
  virtual std::uint64_t finish() = 0;
};

/// The content of a file to write.
struct WriterJob {
  std::vector<Dataset::Field> fields;
  std::uint64_t rows = 0;
  std::string compression;        ///< one of DataWriter::compressions; "": not compressed
  bool checksums = false;         ///< write checksums
  bool escapes_formulas = false;  ///< put an apostrophe before texts that a spreadsheet would interpret as a formula

  /// Returns the shape of an array with all samples of a field.
  Shape shape_of(const Dataset::Field& field) const;
};

/// A plug-in that writes a dataset as one file, which the formats in data/formats can read. Each plug-in is one file in
/// cli/data/writers.
struct DataWriter {
  std::string_view name;
  std::string_view extension;  ///< ".h5": extension of the files that it writes
  std::string_view help;
  std::vector<std::string_view> compressions;  ///< names of compressions that it supports
  /// Throws UsageError if the writer does not support a type, a field that varies in length, or a name.
  void (*require)(const WriterJob& job);
  /// Returns whether a writer can resume at the position() of an earlier writer.
  bool (*is_resumable)(const WriterJob& job);
  /// Opens a writer. If `file` is incomplete, the writer continues at the position file.done().
  std::unique_ptr<RowWriter> (*open)(const WriterJob& job, ResumableFile& file);
  bool has_checksums = false;     ///< whether files of this type can have checksums
  std::uint64_t block_bytes = 0;  ///< preferred size of a block in memory; 0: any
};

PluginTable<DataWriter> data_writer_table();

/// Returns the writer for a file name. Throws UsageError that lists the extensions if no writer has the extension.
const DataWriter& data_writer_for(const std::string& path);

/// Throws UsageError that names the first field that varies in length. `file_kind`: "an HDF5 file".
void require_fixed_fields(const WriterJob& job, std::string_view file_kind);

/// Throws UsageError that names the first field of type bf16 or f8. `file_kind`: "an .npz file".
void require_standard_types(const WriterJob& job, std::string_view file_kind);

}  // namespace trainrt::cli::datasets
