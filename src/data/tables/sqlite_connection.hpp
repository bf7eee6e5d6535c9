#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace trainrt::data {

/// A SELECT of a database, stepped through. Text and blobs are valid until the next step.
class SqliteRows {
 public:
  enum class Kind : std::uint8_t { missing, integer, real, bytes };

  SqliteRows(sqlite3* database, std::string_view sql);
  void bind(int place, std::int64_t value);  ///< places count from 1
  bool next();                               ///< false at the end
  int columns() const;
  std::string name_of(int column) const;
  Kind kind(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view bytes(int column) const;  ///< of a text: UTF-8; of a number: as a text

 private:
  struct Close {
    void operator()(sqlite3_stmt* rows) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Close> rows_;
};

/// A database, open for reading by one thread. It takes the file as one that does not change, allows SELECT alone, loads no
/// extension and trusts no schema. Throws UsageError that names the file: also if a journal lies beside it, and what is in
/// that would not be seen.
class SqliteFile {
 public:
  explicit SqliteFile(const std::string& path);
  /// UsageError if that is no single SELECT.
  SqliteRows select(std::string_view sql) const { return SqliteRows(database_.get(), sql); }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Letters of ASCII, which SQL's words and names are compared without regard to.
std::string in_lower_case(std::string_view text);
/// As a name in SQL: "na""me".
std::string sqlite_name(std::string_view name);

}  // namespace trainrt::data
