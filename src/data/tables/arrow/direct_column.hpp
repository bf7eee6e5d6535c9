#pragma once
#include <cstdint>
#include <memory>

#include <arrow/type.h>
#include <parquet/column_reader.h>

#include "data/tables/arrow/column_values.hpp"

namespace trainrt::data::arrow_module {

/// Decodes a column of a row group straight to where its values go, with no array of Arrow's between. One thread.
class DirectColumn {
 public:
  /// Whether a column's values are numbers as Parquet itself holds them, one a row.
  static bool suits(const parquet::ColumnDescriptor& column, const arrow::DataType& type);
  /// Of one that suits. `column` and `target` live as long as it does.
  static std::unique_ptr<DirectColumn> of(std::shared_ptr<parquet::ColumnReader> reader, const TableColumn& column,
                                          const TableTarget& target);

  virtual ~DirectColumn() = default;
  /// The next `rows` rows, which stand there. Throws Error that names column, row and value, or says that there are fewer.
  virtual void read(std::int64_t rows, RowsPlace place) = 0;
};

}  // namespace trainrt::data::arrow_module
