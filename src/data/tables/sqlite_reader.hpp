#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/tables/table_abi.hpp"

namespace trainrt::data {

/// What is read of a database: a table with rowids, in their order, or what a query gives, in its order.
struct SqliteWish {
  std::string path;
  std::string table;
  std::string query;             ///< if there is no table
  std::uint64_t most_bytes = 0;  ///< that the results of a query may take
};

/// What a look at all rows has found.
struct SqliteContent {
  struct Column {
    std::string name;
    DType dtype = DType::u8;
    bool is_text = false;
  };
  std::vector<Column> columns;
  std::vector<std::uint64_t> blocks;       ///< rows of each
  std::vector<std::int64_t> first_rowids;  ///< of each block of a table
};

/// Reads all rows once. A column is i64 if all its values are, f64 if all are numbers or missing, else text. Throws
/// UsageError that names the file.
SqliteContent look_at_sqlite(const SqliteWish& wish);

/// Opens what was found: blocks are runs of rows of a table; a query's are one.
std::unique_ptr<const TableFile> open_sqlite_table(SqliteWish wish, SqliteContent content);

}  // namespace trainrt::data
