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
#include "data/bytes/once.hpp"
#include "data/tables/sqlite_connection.hpp"
#include "data/text/column_notes.hpp"
#include "data/text/field_types.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t rows_of_block = 4096;

[[noreturn]] void refuse_table(const SqliteWish& wish) {
  throw UsageError(fmt::format("table: '{}' has no rowids, or is a view: say query = SELECT * FROM {} ORDER BY KEY",
                               excerpt(wish.table, 60), sqlite_name(excerpt(wish.table, 60))));
}

/// The name by which a table's rowids are asked for: one that is no column's.
std::string rowid_of(const SqliteFile& file, const SqliteWish& wish) {
  std::vector<std::string> names;
  const auto rows = file.select("SELECT * FROM " + sqlite_name(wish.table));
  for (int i = 0; i < rows.columns(); ++i) names.push_back(rows.name_of(i));
  for (const auto* name : {"rowid", "_rowid_", "oid"}) {
    const auto is_same = [&](const std::string& other) { return in_lower_case(other) == name; };
    if (std::ranges::any_of(names, is_same)) continue;
    try {
      file.select(fmt::format("SELECT {} FROM {}", name, sqlite_name(wish.table)));
      return name;
    } catch (const UsageError&) {
      break;
    }
  }
  refuse_table(wish);
}

std::string select_of(const SqliteFile& file, const SqliteWish& wish, std::string_view columns, std::string_view where) {
  if (!wish.query.empty()) return wish.query;
  const auto rowid = rowid_of(file, wish);
  return fmt::format("SELECT {}{} FROM {}{}{} ORDER BY {}", columns, rowid, sqlite_name(wish.table),
                     where.empty() ? "" : " WHERE " + rowid, where, rowid);
}

Seen seen_of(SqliteRows::Kind kind) {
  switch (kind) {
    case SqliteRows::Kind::missing:
      return Seen::missing;
    case SqliteRows::Kind::integer:
      return Seen::integer;
    case SqliteRows::Kind::real:
      return Seen::real;
    case SqliteRows::Kind::bytes:
      break;
  }
  return Seen::text;
}

/// Looks at rows one after another.
class Look {
 public:
  Look(const SqliteWish& wish, const SqliteRows& rows)
      : wish_(wish), columns_(rows.columns() - (wish.query.empty() ? 1 : 0)) {
    if (columns_ < 1) throw UsageError("it has no columns");
    guesses_.resize(static_cast<std::size_t>(columns_));
    notes_.resize(static_cast<std::size_t>(columns_));
    for (int i = 0; i < columns_; ++i) content_.columns.push_back({rows.name_of(i)});
  }

  void see(const SqliteRows& rows) {
    // Of a view SQLite gives NULL for them, and no error.
    if (wish_.query.empty() && rows.kind(columns_) != SqliteRows::Kind::integer) refuse_table(wish_);
    for (int i = 0; i < columns_; ++i) {
      const auto kind = rows.kind(i);
      guesses_[static_cast<std::size_t>(i)].see(seen_of(kind));
      notes_[static_cast<std::size_t>(i)].see(seen_of(kind), kind == SqliteRows::Kind::bytes ? rows.bytes(i) : "", row_);
      bytes_ += sizeof(std::int64_t) + (kind == SqliteRows::Kind::bytes ? rows.bytes(i).size() : 0);
    }
    const bool is_query = !wish_.query.empty();
    if (is_query && bytes_ > wish_.most_bytes)
      throw UsageError(
          fmt::format("query: its results take more than memory, {} bytes, and each rank keeps them: choose fewer, make "
                      "memory larger, or write them into a table",
                      wish_.most_bytes));
    if (content_.blocks.empty() || (!is_query && content_.blocks.back() == rows_of_block)) {
      content_.blocks.push_back(0);
      if (!is_query) content_.first_rowids.push_back(rows.integer(columns_));
    }
    ++content_.blocks.back();
    ++row_;
  }

  SqliteContent content() && {
    for (std::size_t i = 0; i < guesses_.size(); ++i) {
      const auto type = guesses_[i].type();
      content_.columns[i].dtype = type.dtype;
      content_.columns[i].is_text = type.is_text;
      if (const auto odd = notes_[i].odd_value())
        warning_once(fmt::format(
            "'{}': column '{}' is text, not numbers: {} of {} values are numbers, but row {} has '{}'; "
            "correct such values to get numbers, or leave their rows out with the key query",
            wish_.path, content_.columns[i].name, notes_[i].numbers(), notes_[i].values(), odd->row + 1, odd->text));
    }
    return std::move(content_);
  }

 private:
  const SqliteWish& wish_;
  int columns_;
  std::vector<TypeGuess> guesses_;
  std::vector<ColumnNotes> notes_;
  std::uint64_t row_ = 0;
  std::uint64_t bytes_ = 0;
  SqliteContent content_;
};

class SqliteTable final : public TableFile {
 public:
  SqliteTable(SqliteWish wish, SqliteContent content) : wish_(std::move(wish)), content_(std::move(content)) {
    for (const auto& [name, dtype, is_text] : content_.columns)
      columns_.push_back(
          {.name = name, .kind = is_text ? "text" : "numbers", .dtype = dtype, .varies = is_text, .is_text = is_text});
  }

  const std::vector<TableColumn>& columns() const override { return columns_; }
  const std::vector<std::uint64_t>& blocks() const override { return content_.blocks; }
  bool lacks_values(std::size_t) const override { return false; }
  bool is_by_rows() const override { return true; }
  std::uint64_t bytes_of(std::size_t block, std::size_t) const override {
    return content_.blocks[block] * sizeof(std::int64_t);
  }

  void read(std::size_t block, std::span<const TableTarget> targets) const override {
    auto file = take();
    read(*file, block, targets);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(file));
  }

 private:
  std::unique_ptr<SqliteFile> take() const {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<SqliteFile>(wish_.path);
    auto file = std::move(idle_.back());
    idle_.pop_back();
    return file;
  }

  void read(const SqliteFile& file, std::size_t block, std::span<const TableTarget> targets) const {
    const bool is_query = !wish_.query.empty();
    std::string names;
    for (const auto& target : targets) names += sqlite_name(columns_[target.column].name) + ", ";
    auto rows = file.select(select_of(file, wish_, names, " >= ?1"));
    if (!is_query) rows.bind(1, content_.first_rowids[block]);
    const auto before = rows_of_block * block;
    for (std::uint64_t row = 0; row < content_.blocks[block]; ++row) {
      if (!rows.next()) throw Error("it has fewer rows than when it was first looked at");
      for (std::size_t i = 0; i < targets.size(); ++i)
        put(rows, is_query ? static_cast<int>(targets[i].column) : static_cast<int>(i), targets[i], row, before + row);
    }
    if (is_query && rows.next()) throw Error("it has more rows than when it was first looked at");
  }

  void put(const SqliteRows& rows, int place, const TableTarget& target, std::uint64_t row, std::uint64_t in_file) const {
    const auto kind = rows.kind(place);
    if (target.varying != nullptr) {
      const auto text = std::as_bytes(std::span(rows.bytes(place)));
      require_room_for(text.size(), target);
      target.varying->values.insert(target.varying->values.end(), text.begin(), text.end());
      target.varying->ends.push_back(target.varying->values.size());
      return;
    }
    auto* out = target.values + row * target.stride;
    bool fits = false;
    if (target.must_fit && kind == SqliteRows::Kind::integer && !is_exact(rows.integer(place)))
      throw UsageError(fmt::format(
          "column '{}': row {}: the whole number {} has no exact f64, and the column is f64 because values are missing or "
          "real; types gives the column f64 to round it, or a query keeps it as a text: CAST({} AS TEXT)",
          columns_[target.column].name, in_file, rows.integer(place), sqlite_name(columns_[target.column].name)));
    if (kind == SqliteRows::Kind::integer) fits = put_integer(rows.integer(place), target.dtype, out);
    if (kind == SqliteRows::Kind::real) fits = put_real(rows.real(place), target.dtype, out);
    if (kind == SqliteRows::Kind::missing) fits = put_real(std::numeric_limits<double>::quiet_NaN(), target.dtype, out);
    if (fits) return;
    throw Error(fmt::format("column '{}': row {}: the value {} is no {}", columns_[target.column].name, in_file,
                            kind == SqliteRows::Kind::missing ? "NULL" : excerpt(rows.bytes(place), 60),
                            trainrt::name_of(target.dtype)));
  }

  SqliteWish wish_;
  SqliteContent content_;
  std::vector<TableColumn> columns_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<SqliteFile>> idle_;
};

}  // namespace

SqliteContent look_at_sqlite(const SqliteWish& wish) {
  const SqliteFile file(wish.path);
  try {
    auto rows = file.select(select_of(file, wish, "*, ", ""));
    Look look(wish, rows);
    while (rows.next()) look.see(rows);
    return std::move(look).content();
  } catch (const Error& error) {
    throw UsageError(fmt::format("'{}': {}", wish.path, error.what()));
  }
}

std::unique_ptr<const TableFile> open_sqlite_table(SqliteWish wish, SqliteContent content) {
  return std::make_unique<const SqliteTable>(std::move(wish), std::move(content));
}

}  // namespace trainrt::data
#endif
