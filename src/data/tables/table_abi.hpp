#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <trainrt/dataset.hpp>
#include <trainrt/error.hpp>

#include "data/source/source.hpp"

// Interfaces for files that store a table in blocks of rows, such as row groups or record batches. A block can only be
// decoded completely. The module arrow.so implements the interfaces for Parquet and Arrow files.
namespace trainrt::data {

/// A column of a file, and the type and shape to which its values are converted.
struct TableColumn {
  std::string name;
  std::string file_type;        ///< type as the file format calls it, for messages: "list<element: float>"
  DType dtype = DType::u8;      ///< type of the values; it can represent all values of the file, except missing ones
  Shape shape = {};             ///< shape of one sample
  bool varies = false;          ///< samples have different numbers of values
  bool is_text = false;         ///< the values of a sample are the bytes of a text
  bool is_nullable = false;     ///< values may be missing
  std::string meaning = {};     ///< if the numbers encode a time, their unit: "days since 1970-01-01"
  std::string unreadable = {};  ///< why the column cannot be read, and the remedy; "" if the column can be read

  /// The members that PackedWriter encodes. Only the index of an SQLite database is encoded, and it needs no other
  /// members.
  static auto packed_members(auto& self) { return std::tie(self.name, self.varies); }
};

/// The memory in which TableReader::read() stores a column's values. A missing value is stored as NaN. If `dtype` has no
/// NaN, a missing value causes an Error.
struct TableTarget {
  std::size_t column = 0;
  DType dtype = DType::u8;      ///< single numbers are converted to this type; other columns keep their own type
  std::byte* values = nullptr;  ///< address of the value of the block's first sample
  std::size_t stride = 0;       ///< distance in bytes from one sample to the next
  Column* varying = nullptr;    ///< for a column that varies in length, instead of `values`: samples are appended to it
  std::uint64_t max_bytes = 0;  ///< maximum size of the values in `varying`
  bool must_be_exact = false;   ///< an integer that f64 would round causes an Error
};

/// Throws Error if `target.varying` would exceed its maximum size with `bytes` more bytes. The limit is necessary
/// because a small file may repeat the same long text many times.
inline void require_room_for(std::size_t bytes, const TableTarget& target) {
  if (bytes > target.max_bytes || target.varying->values.size() > target.max_bytes - bytes)
    throw Error("the values of a block of rows need more than " + std::to_string(target.max_bytes) +
                " bytes; the limit is max_expanded_bytes, or half of the available memory if that is less");
}

/// Random access to the bytes of a file. Several threads may read at the same time.
class TableInput {
 public:
  virtual ~TableInput() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills `into` with the file's bytes from `offset` on. Throws Error if they cannot be read.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) const = 0;
};

/// Reads a file that stores a table in blocks of rows. Immutable, so that any thread may read. Errors do not name the
/// file; the caller adds its name.
class TableReader {
 public:
  virtual ~TableReader() = default;
  virtual const std::vector<TableColumn>& columns() const = 0;
  virtual const std::vector<std::uint64_t>& blocks() const = 0;  ///< number of rows of each block
  /// Returns whether any value of the column is missing. The function may have to read the column.
  virtual bool has_missing_values(std::size_t column) const = 0;
  /// Returns whether the file stores all columns of a row together, so that one read() of all columns is faster than one
  /// read() for each column.
  virtual bool is_by_rows() const { return false; }
  /// Returns about how many bytes the values of a column of one block need in memory. Precondition: the column varies in
  /// length.
  virtual std::uint64_t varying_bytes(std::size_t block, std::size_t column) const = 0;
  /// Reads all rows of a block into `targets`. If a value does not fit the type of its target, throws Error, which names
  /// row, column and value.
  virtual void read(std::size_t block, std::span<const TableTarget> targets) const = 0;
};

/// A block of rows as it is stored in a file.
struct EncodedBlock {
  std::vector<std::byte> values;
  std::vector<std::byte> notes;  ///< argument for TableEncoder::add()
};

/// Encodes a file that stores a table in blocks of rows. The caller writes the file: first head(), then the values of the
/// blocks, at last the result of finish(). Any other bytes between the blocks are allowed.
class TableEncoder {
 public:
  virtual ~TableEncoder() = default;
  virtual std::string_view head() const = 0;
  /// Encodes `count` rows. `columns` has one column for each field. `first` is the index of the first row in the table,
  /// for messages. Any thread may call encode(). Throws UsageError for a value that the file format cannot store.
  virtual EncodedBlock encode(std::uint64_t first, std::uint64_t count, std::span<const Column> columns) const = 0;
  /// Records that the caller writes the values of an encoded block at `offset` of the file. `notes` are the block's
  /// EncodedBlock::notes. Blocks must be added in the order of the rows. Throws Error if the notes are damaged.
  virtual void add(std::span<const std::byte> notes, std::uint64_t offset) = 0;
  virtual std::vector<std::byte> finish() = 0;
};

/// Type of the symbol `trainrt_tables`, by which a loadable module exports its table formats. The module does not link to
/// the program.
struct TableModule {
  static constexpr int current_abi = 4;
  int abi = current_abi;
  /// Opens a file of the format `format`, "parquet" or "arrow". The reader uses at most `max_memory` bytes of memory, in
  /// addition to its targets. `blocks` has the number of rows of each block if these numbers are known; otherwise it is
  /// empty. Throws Error, which describes the damage, if the file is damaged.
  std::unique_ptr<const TableReader> (*open)(const char* format, std::shared_ptr<const TableInput> input,
                                             std::uint64_t max_memory, std::vector<std::uint64_t> blocks) = nullptr;
  /// Returns an encoder for a file of the format `format`, "parquet". `compression` is Arrow's name of a codec, or "".
  /// Throws UsageError for a field that the file format cannot store.
  std::unique_ptr<TableEncoder> (*encode)(const char* format, std::vector<Dataset::Field> fields,
                                          const std::string& compression) = nullptr;
};

}  // namespace trainrt::data
