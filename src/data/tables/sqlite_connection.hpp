#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/text/field_types.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace trainrt::data {

/// The result of a SELECT, which is read row by row. The texts and blobs of a row are valid until the next call of
/// next().
class SqliteCursor {
 public:
  SqliteCursor(sqlite3* database, std::string_view sql);
  void bind(int parameter, std::int64_t value);  ///< parameters are numbered from 1
  bool next();                                   ///< moves to the next row; returns false at the end
  int columns() const;
  std::string name_of(int column) const;
  Seen kind(int column) const;  ///< Seen::text also for blobs
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view bytes(int column) const;  ///< a text in UTF-8, a number as text, or a blob

 private:
  struct Close {
    void operator()(sqlite3_stmt* rows) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Close> rows_;
};

/// A database that one thread has opened for reading. The file must not change while it is open. Only SELECT is
/// allowed, extensions are not loaded, and the schema is not trusted. Throws UsageError, which names the file, if the
/// database cannot be opened, or if a journal file exists: the changes in the journal would be missing.
class SqliteConnection {
 public:
  explicit SqliteConnection(const std::string& path);
  /// Throws UsageError if `sql` is not exactly one SELECT.
  SqliteCursor select(std::string_view sql) const { return SqliteCursor(database_.get(), sql); }
  /// Returns a name of the table's rowid column. SQLite has several names for this column (rowid, oid, _rowid_); the
  /// result is one that no other column of the table has. Throws UsageError if the table has no rowids.
  std::string rowid_of(const std::string& table) const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Throws the UsageError for a table without rowids, or a view.
[[noreturn]] void refuse_table(const std::string& table);
/// Returns `text` with its ASCII letters in lower case, to compare keywords and names: SQL ignores the case of these
/// letters.
std::string in_lower_case(std::string_view text);
/// Returns `name` as a quoted name in SQL: "na""me".
std::string sqlite_name(std::string_view name);

}  // namespace trainrt::data
