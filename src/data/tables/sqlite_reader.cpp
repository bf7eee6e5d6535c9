#ifdef TRAINRT_SQLITE
#include "data/tables/sqlite_reader.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/log_once.hpp"
#include "data/tables/sqlite_connection.hpp"
#include "data/text/column_notes.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t rows_of_block = 4096;

[[noreturn]] void refuse_table(const SqliteRequest& request) {
  throw UsageError(fmt::format("table: '{}' has no rowids, or is a view: use query = SELECT * FROM {} ORDER BY KEY",
                               excerpt(request.table, 60), sqlite_name(excerpt(request.table, 60))));
}

/// Returns the name of the table's rowid column. SQLite has several names for this column; the result is one that is
/// not the name of another column.
std::string rowid_of(const SqliteConnection& file, const SqliteRequest& request) {
  std::vector<std::string> names;
  const auto rows = file.select("SELECT * FROM " + sqlite_name(request.table));
  for (int i = 0; i < rows.columns(); ++i) names.push_back(rows.name_of(i));
  for (const auto* name : {"rowid", "_rowid_", "oid"}) {
    const auto is_same = [&](const std::string& other) { return in_lower_case(other) == name; };
    if (std::ranges::any_of(names, is_same)) continue;
    try {
      file.select(fmt::format("SELECT {} FROM {}", name, sqlite_name(request.table)));
      return name;
    } catch (const UsageError&) {
      break;
    }
  }
  refuse_table(request);
}

/// Returns the SELECT statement for the request. For a table, it selects the columns `columns` and, last, the rowid.
std::string select_of(const SqliteConnection& file, const SqliteRequest& request, std::string_view columns,
                      std::string_view where) {
  if (request.is_query()) return request.query;
  const auto rowid = rowid_of(file, request);
  return fmt::format("SELECT {}{} FROM {}{}{} ORDER BY {}", columns, rowid, sqlite_name(request.table),
                     where.empty() ? "" : " WHERE " + rowid, where, rowid);
}

/// Determines the types of the columns, and divides the rows into blocks. The caller passes all rows, one after another.
class Scanner {
 public:
  Scanner(const SqliteRequest& request, const SqliteCursor& rows)
      : request_(request), columns_(rows.columns() - (request.is_query() ? 0 : 1)) {
    if (columns_ < 1) throw UsageError("it has no columns");
    guesses_.resize(static_cast<std::size_t>(columns_));
    notes_.resize(static_cast<std::size_t>(columns_));
    for (int i = 0; i < columns_; ++i) scan_.columns.push_back({.name = rows.name_of(i), .file_type = "numbers"});
  }

  void see(const SqliteCursor& rows) {
    // The rowids of a view are NULL, so that a view is refused here.
    const bool is_query = request_.is_query();
    if (!is_query && rows.kind(columns_) != Seen::integer) refuse_table(request_);
    for (int i = 0; i < columns_; ++i) {
      const auto kind = rows.kind(i);
      const auto text = kind == Seen::text ? rows.bytes(i) : std::string_view();
      guesses_[static_cast<std::size_t>(i)].see(kind);
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
    for (std::size_t i = 0; i < guesses_.size(); ++i) {
      auto& column = scan_.columns[i];
      const auto type = guesses_[i].type();
      column.dtype = type.dtype;
      column.varies = column.is_text = type.is_text;
      if (type.is_text) column.file_type = "text";
      if (const auto odd = notes_[i].odd_value())
        warning_once(
            fmt::format("'{}': column '{}' is text, not numbers: {} of {} values are numbers, but row {} has '{}'; "
                        "correct such values to get numbers, or leave their rows out with the key 'query'",
                        request_.path, column.name, notes_[i].numbers(), notes_[i].values(), odd->row + 1, odd->text));
    }
    return std::move(scan_);
  }

 private:
  const SqliteRequest& request_;
  int columns_;
  std::vector<TypeGuess> guesses_;
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
      if (!rows.next()) throw Error("it has fewer rows than when it was listed");
      for (std::size_t i = 0; i < targets.size(); ++i)
        put(rows, is_query ? static_cast<int>(targets[i].column) : static_cast<int>(i), targets[i], row, before + row);
    }
    if (is_query && rows.next()) throw Error("it has more rows than when it was listed");
  }

  /// Stores the value in column `from` of the result. `row` is the number of the row in the block, and `in_file` its
  /// number in the file.
  void put(const SqliteCursor& rows, int from, const TableTarget& target, std::uint64_t row, std::uint64_t in_file) const {
    const auto kind = rows.kind(from);
    if (target.varying != nullptr) {
      const auto text = std::as_bytes(std::span(rows.bytes(from)));
      require_room_for(text.size(), target);
      target.varying->values.insert(target.varying->values.end(), text.begin(), text.end());
      target.varying->ends.push_back(target.varying->values.size());
      return;
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
                            kind == Seen::missing ? "NULL" : excerpt(rows.bytes(from), 60),
                            trainrt::name_of(target.dtype)));
  }

  SqliteRequest request_;
  SqliteScan scan_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SqliteConnection>> idle_;
};

}  // namespace

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

std::unique_ptr<const TableReader> open_sqlite_reader(SqliteRequest request, SqliteScan scan) {
  return std::make_unique<const SqliteReader>(std::move(request), std::move(scan));
}

}  // namespace trainrt::data
#endif
