#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/input_file.hpp"
#include "data/tables/sqlite_file.hpp"
#include "data/tables/sqlite_table.hpp"
#include "data/tables/table_source.hpp"

namespace trainrt::data {

namespace {

#ifdef TRAINRT_SQLITE

SqliteWish sqlite_wish(const DataFile& file, const Options& options) {
  SqliteWish wish{file.path, trim(options.text("table")), trim(options.text("query")), options.bytes("memory")};
  if (wish.table.empty() == wish.query.empty())
    throw UsageError(fmt::format("'{}' is a database: say table = NAME, or query = SELECT ... ORDER BY ...", file.path));
  if (!wish.query.empty() && in_lower_case(wish.query).find("order by") == std::string::npos)
    throw UsageError(
        "query: has no ORDER BY: its rows may come in another order after a restart; end it with ORDER BY KEY");
  return wish;
}

/// A database is read by its own library; that the file is as it was listed is seen here.
void require_sqlite(const DataFile& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::string begin(magic.size(), '\0');
  if (file.size >= begin.size()) InputFile(file).read(0, std::as_writable_bytes(std::span(begin)));
  if (begin != magic) throw UsageError(fmt::format("'{}' is no SQLite database", file.path));
}

FileContent look_at_database(const DataFile& file, const Options& options) {
  const auto wish = sqlite_wish(file, options);
  require_sqlite(file);
  const auto found = look_at_sqlite(wish);
  if (found.blocks.empty()) throw UsageError(fmt::format("'{}': there are no rows", file.path));
  auto content = content_of(table_plan(*open_sqlite_table(wish, found), options, file.path));
  content.reading = wish.query.empty() ? Reading::by_record : Reading::as_a_whole;
  PackedWriter packed;
  packed.text(content.index);
  packed.number(found.columns.size());
  for (const auto& [name, dtype, is_text] : found.columns) {
    packed.text(name);
    packed.text(name_of(dtype));
    packed.number(is_text ? 1 : 0);
  }
  for (const auto rowid : found.first_rowids) packed.number(static_cast<std::uint64_t>(rowid));
  content.index = packed.take();
  return content;
}

std::unique_ptr<Source> open_database(const DataFile& file, const FileContent& listed, const Options& options, bool keep) {
  require_sqlite(file);
  const auto wish = sqlite_wish(file, options);
  auto content = listed;
  PackedReader packed(listed.index);
  content.index = packed.text();
  SqliteContent found;
  for (auto count = packed.number(); count > 0; --count) {
    auto& column = found.columns.emplace_back();
    column.name = packed.text();
    column.dtype = dtype_from(packed.text());
    column.is_text = packed.number() != 0;
  }
  const auto open = [&](const std::vector<std::uint64_t>& blocks) {
    found.blocks = blocks;
    for (std::size_t i = 0; wish.query.empty() && i < blocks.size(); ++i)
      found.first_rowids.push_back(static_cast<std::int64_t>(packed.number()));
    return open_sqlite_table(wish, found);
  };
  return open_table(file, content, options, !wish.query.empty() ? Keep::always : keep ? Keep::if_small : Keep::never, open);
}

#else

[[noreturn]] void refuse_database() {
  throw UsageError("trainrt was built without SQLite: install libsqlite3-dev, and build it again");
}
FileContent look_at_database(const DataFile&, const Options&) { refuse_database(); }
std::unique_ptr<Source> open_database(const DataFile&, const FileContent&, const Options&, bool) { refuse_database(); }

#endif

std::vector<OptionSpec> sqlite_options() {
  auto options = table_options();
  options.push_back(
      {.key = "table", .default_value = "", .help = "the table whose rows are the samples, in the order of their rowids"});
  options.push_back({.key = "query",
                     .default_value = "",
                     .help = "instead of a table: a SELECT with ORDER BY, whose rows are kept in memory",
                     .form = "SELECT ... ORDER BY ..."});
  return options;
}

bool is_sqlite_name(std::string_view path) {
  return path.ends_with(".db") || path.ends_with(".sqlite") || path.ends_with(".sqlite3");
}

}  // namespace

namespace plugins {

extern const Format sqlite{
    .name = "sqlite",
    .help = "SQLite databases: the rows of a table or a query, each column a field, or many numbers one vector",
    .options = sqlite_options(),
    .look = look_at_database,
    .open = open_database,
    .is_name_of = is_sqlite_name,
    .read_cache = "chunk_cache"};

}  // namespace plugins

}  // namespace trainrt::data
