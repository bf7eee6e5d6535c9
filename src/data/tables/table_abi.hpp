#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <trainrt/dataset.hpp>
#include <trainrt/error.hpp>

#include "data/source/source.hpp"
#include "data/tables/table_encoder.hpp"

namespace trainrt::data {

/// A column of a file that holds a table in blocks, and what becomes of its values.
struct TableColumn {
  std::string name;
  std::string kind;          ///< what the file calls its type: "list<element: float>"
  DType dtype = DType::u8;   ///< of the values, which hold all of the file's, but missing ones
  Shape shape = {};          ///< of one sample
  bool varies = false;       ///< each sample has as many values as it has
  bool is_text = false;      ///< they are the bytes of a text
  bool may_lack = false;     ///< samples may have no value
  std::string meaning = {};  ///< of numbers that stand for something else: "days since 1970-01-01"
  std::string refused = {};  ///< why it cannot be read, and what helps; "" if it can
};

/// Where a column's values go. A value that is missing is NaN; among whole numbers it is an error.
struct TableTarget {
  std::size_t column = 0;
  DType dtype = DType::u8;       ///< a column of single numbers may become another type; others keep theirs
  std::byte* values = nullptr;   ///< that of the block's first sample
  std::size_t stride = 0;        ///< bytes from one sample to the next
  Column* varying = nullptr;     ///< instead, if the column varies: values and their ends are appended
  std::uint64_t most_bytes = 0;  ///< of the values then; more of them is an Error
  bool must_fit = false;         ///< a whole number that an f64 would round is an Error
};

/// Room for so many more bytes of a column that varies. Throws Error if that is too much: a file of few bytes may say the
/// same long text again and again.
inline void require_room_for(std::size_t bytes, const TableTarget& target) {
  if (bytes > target.most_bytes || target.varying->values.size() > target.most_bytes - bytes)
    throw Error("the values of a block take more than " + std::to_string(target.most_bytes) +
                " bytes: the limit is max_expanded_bytes, or half of the memory that is available if that is less");
}

/// The bytes of a file.
class TableInput {
 public:
  virtual ~TableInput() = default;
  virtual std::uint64_t size() const = 0;
  virtual void read(std::uint64_t offset, std::span<std::byte> into) const = 0;  ///< any threads at once; throws Error
};

/// A file that holds a table in blocks of rows, each of which is decoded as a whole: row groups, record batches. Nothing
/// changes after opening: any threads may read at once. Messages of errors do not name the file.
class TableFile {
 public:
  virtual ~TableFile() = default;
  virtual const std::vector<TableColumn>& columns() const = 0;
  virtual const std::vector<std::uint64_t>& blocks() const = 0;  ///< the rows of each
  /// Whether a value of the column is missing; may read the column.
  virtual bool lacks_values(std::size_t column) const = 0;
  /// Whether a row's columns are read together: then they are asked for together.
  virtual bool is_by_rows() const { return false; }
  /// What the block's values of a column that varies take in memory, about.
  virtual std::uint64_t bytes_of(std::size_t block, std::size_t column) const = 0;
  /// All rows of a block. Throws Error that names row, column and value if a value is not of its target's type.
  virtual void read(std::size_t block, std::span<const TableTarget> targets) const = 0;
};

/// What a loadable module of table formats gives, as `trainrt_tables`: one record, found by dlsym. The module links none of
/// the program's functions.
struct TableModule {
  static constexpr int current_abi = 3;
  int abi = current_abi;
  const char* library = "";  ///< what it reads with: "Apache Arrow 26.0.1"
  /// Opens a file of a kind: "parquet", "arrow". It takes no more than `most_memory` bytes beside its targets. `blocks`:
  /// the rows of each block, as they were found before; none at first. Throws Error that says what is wrong with the file.
  std::unique_ptr<const TableFile> (*open)(const char* kind, std::shared_ptr<const TableInput> input,
                                           std::uint64_t most_memory, std::vector<std::uint64_t> blocks) = nullptr;
  /// Writes a file of a kind, "parquet". `compression`: Arrow's name of a codec, "" for none. Throws UsageError for a field
  /// that the file cannot hold.
  std::unique_ptr<TableEncoder> (*encode)(const char* kind, std::vector<Dataset::Field> fields,
                                          const std::string& compression) = nullptr;
};

}  // namespace trainrt::data
