#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/tables/table_abi.hpp"

namespace trainrt::data {

/// The rows to read from a database. They are the rows of a table with rowids, in the order of the rowids, or the
/// result of a query.
struct SqliteRequest {
  std::string path;
  std::string table;
  std::string query;            ///< used if `table` is empty
  std::uint64_t max_bytes = 0;  ///< maximum size of the result of a query

  bool is_query() const { return !query.empty(); }
};

/// The result of scan_sqlite().
struct SqliteScan {
  std::vector<TableColumn> columns;
  std::vector<std::uint64_t> blocks;       ///< number of rows of each block; a query is one block
  std::vector<std::int64_t> first_rowids;  ///< first rowid of each block of a table
};

/// Reads all rows once to determine types and blocks. A column is i64 if all its values are integers, f64 if all are
/// numbers or missing, and otherwise text. Throws UsageError that names the file.
SqliteScan scan_sqlite(const SqliteRequest& request);

/// Opens a database. `scan` is the result of scan_sqlite() for `request`.
std::unique_ptr<const TableReader> open_sqlite_reader(SqliteRequest request, SqliteScan scan);

}  // namespace trainrt::data
