#pragma once
#include <cstdint>
#include <memory>

#include <arrow/type.h>
#include <parquet/column_reader.h>

#include "data/tables/arrow/column_values.hpp"

namespace trainrt::data::arrow_module {

/// Decodes a column of a row group directly into its target, without an Arrow array. For one thread.
class DirectColumn {
 public:
  /// Returns whether this class can decode the column: it has one number per row, in a type that Parquet itself has.
  static bool suits(const parquet::ColumnDescriptor& column, const arrow::DataType& type);
  /// Opens a column for which suits() returned true. `column` and `target` must outlive the object.
  static std::unique_ptr<DirectColumn> of(std::shared_ptr<parquet::ColumnReader> reader, const TableColumn& column,
                                          const TableTarget& target);

  virtual ~DirectColumn() = default;
  /// Decodes the next `rows` rows. `first` is the number of the first of these rows. Throws Error that names column,
  /// row and value. Also throws Error if the file has fewer rows.
  virtual void read(std::int64_t rows, FirstRow first) = 0;
};

}  // namespace trainrt::data::arrow_module
