#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

#include "cli/datasets/convert/resumable_file.hpp"
#include "core/plugin.hpp"
#include "data/source/source.hpp"

namespace trainrt::cli::datasets {

/// Neighbours among the rows that are written; a column each of the writer's fields.
struct RowBlock {
  std::uint64_t first = 0, count = 0;
  std::vector<data::Column> columns;
};

/// What a writer has made of a block, as far as it has not written it yet.
struct PreparedRows {
  virtual ~PreparedRows() = default;
};

/// Writes the rows of one file, block by block. What is thrown comes from the storage: Error that names the file.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  /// In any thread, blocks in any order, several at once. What has its place in the file is written here.
  virtual std::unique_ptr<PreparedRows> prepare(RowBlock block) = 0;
  /// In the order of the rows, one block after the other.
  virtual void append(std::unique_ptr<PreparedRows>) {}
  /// What another writer has to know to go on behind the last block that was appended.
  virtual std::string position() const { return {}; }
  /// Behind the last block. Returns the bytes of the file.
  virtual std::uint64_t finish() = 0;
};

/// What is to be written.
struct WriterJob {
  std::vector<Dataset::Field> fields;
  std::uint64_t rows = 0;
  std::string compression;        ///< one of DataWriter::compressions; "" for none
  bool checksums = false;         ///< what is written has checksums
  std::uint64_t at_once = 1;      ///< rows of a usual block
  bool for_spreadsheets = false;  ///< texts that a spreadsheet would take for a formula get an apostrophe before them
};

/// A plug-in: one file in cli/data_writers. Writes a dataset as one file that data/formats, and other programs, read.
struct DataWriter {
  std::string_view name;
  std::string_view extension;  ///< ".h5": chooses it
  std::string_view help;
  std::vector<std::string_view> compressions;  ///< besides none
  /// UsageError that says what cannot be written: a type, a field that varies in length, a name; and what to do. nullptr if
  /// all can.
  void (*require)(const WriterJob& job);
  /// Whether one goes on where another has noted its position().
  bool (*goes_on)(const WriterJob& job);
  /// Goes on at file.done(), or begins.
  std::unique_ptr<RowWriter> (*open)(const WriterJob& job, ResumableFile& file);
  bool has_checksums = false;     ///< its files can have them
  std::uint64_t block_bytes = 0;  ///< of a usual block, in memory, if it should be more than what is read at once
};

PluginTable<DataWriter> data_writer_table();

/// The writer for a file's name; UsageError that lists the extensions if there is none.
const DataWriter& data_writer_for(const std::string& path);

/// UsageError for the first field that varies in length. `what`: the kind of file, "an HDF5 file".
void require_fixed_fields(const WriterJob& job, std::string_view what);

}  // namespace trainrt::cli::datasets
