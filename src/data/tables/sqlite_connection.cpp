#ifdef TRAINRT_SQLITE
#include "data/tables/sqlite_connection.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/object_reader.hpp"

namespace trainrt::data {

namespace {

void check_sqlite(int code, sqlite3* database, std::string_view what) {
  if (code == SQLITE_OK) return;
  throw UsageError(fmt::format("{}: {}", what, database != nullptr ? sqlite3_errmsg(database) : sqlite3_errstr(code)));
}

/// The authorizer callback of SQLite: allows only reading. Refuses functions that return random numbers, so that a query
/// always returns the same rows.
int allow_reading(void*, int action, const char*, const char* function, const char*, const char*) {
  if (action == SQLITE_FUNCTION) {
    const std::string_view name = function == nullptr ? "" : function;
    return name == "load_extension" || name == "random" || name == "randomblob" ? SQLITE_DENY : SQLITE_OK;
  }
  return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_RECURSIVE ? SQLITE_OK : SQLITE_DENY;
}

std::string uri_of(const std::string& path) {
  std::string uri = "file:";
  for (const unsigned char c : std::filesystem::absolute(path).string())
    uri += std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_' ? std::string(1, static_cast<char>(c))
                                                                                : fmt::format("%{:02x}", c);
  return uri + "?mode=ro&immutable=1";
}

void require_no_journal(const std::string& path) {
  for (const auto* ending : {"-wal", "-journal"}) {
    std::error_code none;
    if (const auto bytes = std::filesystem::file_size(path + ending, none); !none && bytes > 0)
      throw UsageError(
          fmt::format("'{}': changes in the journal '{}{}' are not in the database yet: "
                      "close the program that writes it, or run sqlite3 '{}' 'PRAGMA wal_checkpoint(TRUNCATE)'",
                      path, path, ending, path));
  }
}

}  // namespace

SqliteCursor::SqliteCursor(sqlite3* database, std::string_view sql) : database_(database) {
  sqlite3_stmt* rows = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v3(database, sql.data(), static_cast<int>(sql.size()), 0, &rows, &rest);
  rows_.reset(rows);
  check_sqlite(code, database, excerpt(sql, 200));
  const std::string_view remaining(rest, static_cast<std::size_t>(sql.data() + sql.size() - rest));
  if (!rows_ || sqlite3_stmt_readonly(rows) == 0 || sqlite3_column_count(rows) == 0 ||
      remaining.find_first_not_of("; \t\r\n") != std::string_view::npos)
    throw UsageError(fmt::format("{}: the query must be a single SELECT", excerpt(sql, 200)));
}

void SqliteCursor::Close::operator()(sqlite3_stmt* rows) const { sqlite3_finalize(rows); }

void SqliteCursor::bind(int parameter, std::int64_t value) {
  check_sqlite(sqlite3_bind_int64(rows_.get(), parameter, value), database_, "cannot set a parameter of a query");
}

bool SqliteCursor::next() {
  const int code = sqlite3_step(rows_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  throw Error(fmt::format("the next row cannot be read: {}", sqlite3_errmsg(database_)));
}

int SqliteCursor::columns() const { return sqlite3_column_count(rows_.get()); }

std::string SqliteCursor::name_of(int column) const {
  const char* name = sqlite3_column_name(rows_.get(), column);
  return name == nullptr ? "" : name;
}

Seen SqliteCursor::kind(int column) const {
  const int type = sqlite3_column_type(rows_.get(), column);
  if (type == SQLITE_NULL) return Seen::missing;
  if (type == SQLITE_INTEGER) return Seen::integer;
  return type == SQLITE_FLOAT ? Seen::real : Seen::text;
}

std::int64_t SqliteCursor::integer(int column) const { return sqlite3_column_int64(rows_.get(), column); }
double SqliteCursor::real(int column) const { return sqlite3_column_double(rows_.get(), column); }

std::string_view SqliteCursor::bytes(int column) const {
  // sqlite3_column_text() returns UTF-8 even if the database stores texts in UTF-16.
  const bool is_blob = sqlite3_column_type(rows_.get(), column) == SQLITE_BLOB;
  const auto* data = static_cast<const char*>(is_blob ? sqlite3_column_blob(rows_.get(), column)
                                                      : static_cast<const void*>(sqlite3_column_text(rows_.get(), column)));
  const auto count = sqlite3_column_bytes(rows_.get(), column);
  return data == nullptr ? std::string_view() : std::string_view(data, static_cast<std::size_t>(count));
}

void SqliteConnection::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

SqliteConnection::SqliteConnection(const std::string& path) {
  if (is_object(path))
    throw UsageError(
        fmt::format("'{}': SQLite cannot read from an object store: "
                    "copy the database to a file system, or convert it to Parquet (trainrt data convert)",
                    path));
  require_no_journal(path);
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(uri_of(path).c_str(), &database,
                                   SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  database_.reset(database);
  const auto what = fmt::format("'{}' cannot be opened as an SQLite database", path);
  check_sqlite(code, database, what);
  constexpr int max_value_bytes = 256 << 20;
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, max_value_bytes);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  for (const auto& [setting, on] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0), std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)})
    check_sqlite(sqlite3_db_config(database, setting, on, nullptr), database, what);
  check_sqlite(sqlite3_exec(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA query_only = ON", nullptr,
                            nullptr, nullptr),
               database, what);
  check_sqlite(sqlite3_set_authorizer(database, allow_reading, nullptr), database, what);
}

std::string SqliteConnection::rowid_of(const std::string& table) const {
  std::vector<std::string> names;
  const auto rows = select("SELECT * FROM " + sqlite_name(table));
  for (int i = 0; i < rows.columns(); ++i) names.push_back(in_lower_case(rows.name_of(i)));
  for (const auto* name : {"rowid", "_rowid_", "oid"}) {
    if (std::ranges::find(names, name) != names.end()) continue;
    try {
      select(fmt::format("SELECT {} FROM {}", name, sqlite_name(table)));
      return name;
    } catch (const UsageError&) {
      break;
    }
  }
  refuse_table(table);
}

void refuse_table(const std::string& table) {
  throw UsageError(fmt::format("table: '{}' has no rowids, or is a view: use query = SELECT * FROM {} ORDER BY KEY",
                               excerpt(table, 60), sqlite_name(excerpt(table, 60))));
}

std::string in_lower_case(std::string_view text) {
  std::string made(text);
  for (auto& c : made)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return made;
}

std::string sqlite_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace trainrt::data
#endif
