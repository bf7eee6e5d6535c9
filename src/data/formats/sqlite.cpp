#include <algorithm>
#include <limits>
#include <mutex>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/input_file.hpp"
#include "data/bytes/log_once.hpp"
#include "data/tables/sqlite_connection.hpp"
#include "data/tables/table_source.hpp"
#include "data/text/column_notes.hpp"

namespace trainrt::data::plugins {

namespace {

#ifdef TRAINRT_SQLITE

/// The rows to read from a database: the rows of a table with rowids, in the order of the rowids, or the result of a query.
struct SqliteRequest {
  std::string path;
  std::string table;
  std::string query;            ///< used if `table` is empty
  std::uint64_t max_bytes = 0;  ///< maximum size of the result of a query

  bool is_query() const { return !query.empty(); }
};

/// The columns of the requested rows, and the blocks into which the rows are divided.
struct SqliteScan {
  std::vector<TableColumn> columns;
  std::vector<std::uint64_t> blocks;       ///< number of rows of each block; a query is one block
  std::vector<std::int64_t> first_rowids;  ///< first rowid of each block of a table

  static auto packed_members(auto& self) { return std::tie(self.columns, self.blocks, self.first_rowids); }
};

/// The structure that FileContent::index of a database encodes.
struct SqliteIndex {
  std::string plan;  ///< an encoded TablePlan
  SqliteScan scan;

  static auto packed_members(auto& self) { return std::tie(self.plan, self.scan); }
};

constexpr std::uint64_t rows_of_block = 4096;

/// Returns the SELECT statement for the request. For a table, selects the columns `columns` and, as the last column, the
/// rowid.
std::string select_of(const SqliteConnection& file, const SqliteRequest& request, std::string_view columns,
                      std::string_view where) {
  if (request.is_query()) return request.query;
  const auto rowid = file.rowid_of(request.table);
  return fmt::format("SELECT {}{} FROM {}{}{} ORDER BY {}", columns, rowid, sqlite_name(request.table),
                     where.empty() ? "" : " WHERE " + rowid, where, rowid);
}

/// Determines the types of the columns, and divides the rows into blocks. The caller passes each row to see(), and then
/// calls result().
class Scanner {
 public:
  Scanner(const SqliteRequest& request, const SqliteCursor& rows)
      : request_(request), columns_(rows.columns() - (request.is_query() ? 0 : 1)) {
    if (columns_ < 1) throw UsageError("the table or query has no columns");
    notes_.resize(static_cast<std::size_t>(columns_));
    for (int i = 0; i < columns_; ++i) scan_.columns.push_back({.name = rows.name_of(i), .file_type = "numbers"});
  }

  void see(const SqliteCursor& rows) {
    // The rowids of a view are NULL, so this condition refuses views.
    const bool is_query = request_.is_query();
    if (!is_query && rows.kind(columns_) != Seen::integer) refuse_table(request_.table);
    for (int i = 0; i < columns_; ++i) {
      const auto kind = rows.kind(i);
      const auto text = kind == Seen::text ? rows.bytes(i) : std::string_view();
      notes_[static_cast<std::size_t>(i)].see(kind, text, row_);
      bytes_ += sizeof(std::int64_t) + text.size();
    }
    if (is_query && bytes_ > request_.max_bytes)
      throw UsageError(
          fmt::format("query: the result does not fit into memory = {} bytes, and each rank stores it in memory. "
                      "Select less, increase memory, or write the result to a table",
                      request_.max_bytes));
    if (scan_.blocks.empty() || (!is_query && scan_.blocks.back() == rows_of_block)) {
      scan_.blocks.push_back(0);
      if (!is_query) scan_.first_rowids.push_back(rows.integer(columns_));
    }
    ++scan_.blocks.back();
    ++row_;
  }

  SqliteScan result() && {
    for (std::size_t i = 0; i < notes_.size(); ++i) {
      auto& column = scan_.columns[i];
      const auto type = notes_[i].type();
      column.dtype = type.dtype;
      column.varies = column.is_text = type.is_text;
      if (type.is_text) column.file_type = "text";
      if (const auto odd = notes_[i].odd_value())
        warning_once(
            fmt::format("'{}': column '{}' is text, not numbers: {} of {} values are numbers, but row {} has '{}'; "
                        "correct the values that are not numbers, or leave their rows out with the key 'query'",
                        request_.path, column.name, notes_[i].numbers(), notes_[i].values(), odd->row + 1, odd->text));
    }
    return std::move(scan_);
  }

 private:
  const SqliteRequest& request_;
  int columns_;
  std::vector<ColumnNotes> notes_;
  std::uint64_t row_ = 0;
  std::uint64_t bytes_ = 0;
  SqliteScan scan_;
};

class SqliteReader final : public TableReader {
 public:
  SqliteReader(SqliteRequest request, SqliteScan scan) : request_(std::move(request)), scan_(std::move(scan)) {}

  const std::vector<TableColumn>& columns() const override { return scan_.columns; }
  const std::vector<std::uint64_t>& blocks() const override { return scan_.blocks; }
  bool has_missing_values(std::size_t) const override { return false; }
  bool is_by_rows() const override { return true; }
  std::uint64_t varying_bytes(std::size_t block, std::size_t) const override {
    return scan_.blocks[block] * sizeof(std::int64_t);
  }

  void read(std::size_t block, std::span<const TableTarget> targets) const override {
    auto file = take();
    read(*file, block, targets);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(file));
  }

 private:
  std::unique_ptr<SqliteConnection> take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<SqliteConnection>(request_.path);
    auto file = std::move(idle_.back());
    idle_.pop_back();
    return file;
  }

  void read(const SqliteConnection& file, std::size_t block, std::span<const TableTarget> targets) const {
    const bool is_query = request_.is_query();
    std::string names;
    for (const auto& target : targets) names += sqlite_name(scan_.columns[target.column].name) + ", ";
    auto rows = file.select(select_of(file, request_, names, " >= ?1"));
    if (!is_query) rows.bind(1, scan_.first_rowids[block]);
    const auto before = rows_of_block * block;
    for (std::uint64_t row = 0; row < scan_.blocks[block]; ++row) {
      if (!rows.next())
        throw Error("the database was changed: it has fewer rows than when it was listed; restore it, or start again");
      for (std::size_t i = 0; i < targets.size(); ++i)
        put(rows, is_query ? static_cast<int>(targets[i].column) : static_cast<int>(i), targets[i], row, before + row);
    }
    if (is_query && rows.next())
      throw Error("the database was changed: it has more rows than when it was listed; restore it, or start again");
  }

  /// Stores the value of the column `from` of the current row in `target`. `row` is the index of the row in its block, and
  /// `in_file` is its index in the file.
  void put(const SqliteCursor& rows, int from, const TableTarget& target, std::uint64_t row, std::uint64_t in_file) const {
    const auto kind = rows.kind(from);
    if (target.varying != nullptr) {
      const auto text = std::as_bytes(std::span(rows.bytes(from)));
      require_room_for(text.size(), target);
      return target.varying->append(text);
    }
    auto* out = target.values + row * target.stride;
    const auto& name = scan_.columns[target.column].name;
    bool fits = false;
    if (target.must_be_exact && kind == Seen::integer && !is_exact(rows.integer(from)))
      throw UsageError(
          fmt::format("column '{}': row {}: f64 cannot represent the integer {} exactly, "
                      "and the column is f64 because it has missing or real values; "
                      "set types to round it to f64, or keep it as text with a query: CAST({} AS TEXT)",
                      name, in_file, rows.integer(from), sqlite_name(name)));
    if (kind == Seen::integer) fits = put_integer(rows.integer(from), target.dtype, out);
    if (kind == Seen::real) fits = put_real(rows.real(from), target.dtype, out);
    if (kind == Seen::missing) fits = put_real(std::numeric_limits<double>::quiet_NaN(), target.dtype, out);
    if (fits) return;
    throw Error(fmt::format("column '{}': row {}: the value {} cannot be stored as {}", name, in_file,
                            kind == Seen::missing ? "NULL" : excerpt(rows.bytes(from), 60), name_of(target.dtype)));
  }

  SqliteRequest request_;
  SqliteScan scan_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SqliteConnection>> idle_;
};

/// Reads all rows once to determine types and blocks. A column is i64 if all its values are integers, f64 if all are
/// numbers or missing, and otherwise text. Throws UsageError, which names the file, if the rows cannot be read.
SqliteScan scan_sqlite(const SqliteRequest& request) {
  const SqliteConnection file(request.path);
  try {
    auto rows = file.select(select_of(file, request, "*, ", ""));
    Scanner scanner(request, rows);
    while (rows.next()) scanner.see(rows);
    return std::move(scanner).result();
  } catch (const Error& error) {
    throw UsageError(fmt::format("'{}': {}", request.path, error.what()));
  }
}

SqliteRequest sqlite_request(const DataFile& file, const Options& options) {
  SqliteRequest request{file.path, trim(options.text("table")), trim(options.text("query")), options.bytes("memory")};
  if (request.table.empty() == request.query.empty())
    throw UsageError(
        fmt::format("'{}' is a database: set either table = NAME or query = SELECT ... ORDER BY ...", file.path));
  if (request.is_query() && in_lower_case(request.query).find("order by") == std::string::npos)
    throw UsageError("query: has no ORDER BY, so its rows may change their order after a restart; append ORDER BY KEY");
  return request;
}

/// Throws UsageError if the file is not an SQLite database, and Error if its size has changed since it was listed. The
/// second check is necessary because SQLite does not detect such a change.
void require_sqlite(const DataFile& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::string begin(magic.size(), '\0');
  if (file.size >= begin.size()) InputFile(file).read(0, std::as_writable_bytes(std::span(begin)));
  if (begin != magic) throw UsageError(fmt::format("'{}' is not an SQLite database", file.path));
}

FileContent probe_database(const DataFile& file, const Options& options) {
  const auto request = sqlite_request(file, options);
  require_sqlite(file);
  const auto scan = scan_sqlite(request);
  if (scan.blocks.empty()) throw UsageError(fmt::format("'{}' has no rows", file.path));
  auto content = content_of(table_plan(SqliteReader(request, scan), options, file.path));
  content.reading = request.is_query() ? Reading::as_a_whole : Reading::by_record;
  content.index = packed(SqliteIndex{content.index, scan});
  return content;
}

std::unique_ptr<Source> open_database(const DataFile& file, const FileContent& listed, const Options& options, bool keep) {
  require_sqlite(file);
  const auto request = sqlite_request(file, options);
  auto content = listed;
  auto index = unpacked<SqliteIndex>(listed.index);
  content.index = std::move(index.plan);
  const auto open = [&](const auto&) { return std::make_unique<const SqliteReader>(request, std::move(index.scan)); };
  return open_table(file, content, options, request.is_query() ? Keep::always : keep ? Keep::if_small : Keep::never, open);
}

#else

[[noreturn]] void refuse_database() {
  throw UsageError("trainrt was built without SQLite: install libsqlite3-dev and build trainrt again");
}
FileContent probe_database(const DataFile&, const Options&) { refuse_database(); }
std::unique_ptr<Source> open_database(const DataFile&, const FileContent&, const Options&, bool) { refuse_database(); }

#endif

std::vector<OptionSpec> sqlite_options() {
  auto options = table_options();
  options.push_back(
      {.key = "table", .default_value = "", .help = "name of the table with one sample per row, in the order of rowids"});
  options.push_back({.key = "query",
                     .default_value = "",
                     .help = "SELECT with ORDER BY, used instead of a table; the result is kept in memory",
                     .form = "SELECT ... ORDER BY ..."});
  return options;
}

}  // namespace

extern const Format sqlite{
    .name = "sqlite",
    .help = "SQLite databases: the rows of a table or query; each column is a field, or many numbers become one vector",
    .options = sqlite_options(),
    .probe = probe_database,
    .open = open_database,
    .is_name_of =
        [](std::string_view path) {
          return path.ends_with(".db") || path.ends_with(".sqlite") || path.ends_with(".sqlite3");
        },
    .read_cache = "chunk_cache"};

}  // namespace trainrt::data::plugins
