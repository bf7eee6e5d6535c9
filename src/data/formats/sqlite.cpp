#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/input_file.hpp"
#include "data/tables/sqlite_connection.hpp"
#include "data/tables/sqlite_reader.hpp"
#include "data/tables/table_source.hpp"

namespace trainrt::data {

namespace {

#ifdef TRAINRT_SQLITE

SqliteRequest sqlite_request(const DataFile& file, const Options& options) {
  SqliteRequest request{file.path, trim(options.text("table")), trim(options.text("query")), options.bytes("memory")};
  if (request.table.empty() == request.query.empty())
    throw UsageError(
        fmt::format("'{}' is a database: set either table = NAME or query = SELECT ... ORDER BY ...", file.path));
  if (request.is_query() && in_lower_case(request.query).find("order by") == std::string::npos)
    throw UsageError("query: has no ORDER BY, so its rows may change their order after a restart; append ORDER BY KEY");
  return request;
}

/// Throws UsageError if the file is not an SQLite database. Throws Error if the file has changed since it was listed,
/// because SQLite does not detect such a change.
void require_sqlite(const DataFile& file) {
  constexpr std::string_view magic("SQLite format 3\0", 16);
  std::string begin(magic.size(), '\0');
  if (file.size >= begin.size()) InputFile(file).read(0, std::as_writable_bytes(std::span(begin)));
  if (begin != magic) throw UsageError(fmt::format("'{}' is not an SQLite database", file.path));
}

/// Finds the columns, rows and blocks of the database. FileContent::index contains the packed TablePlan, the columns, and
/// the first rowid of each block.
FileContent probe_database(const DataFile& file, const Options& options) {
  const auto request = sqlite_request(file, options);
  require_sqlite(file);
  const auto scan = scan_sqlite(request);
  if (scan.blocks.empty()) throw UsageError(fmt::format("'{}' has no rows", file.path));
  auto content = content_of(table_plan(*open_sqlite_reader(request, scan), options, file.path));
  content.reading = request.is_query() ? Reading::as_a_whole : Reading::by_record;
  PackedWriter packed;
  packed.text(content.index);
  packed.number(scan.columns.size());
  for (const auto& column : scan.columns) {
    packed.text(column.name);
    packed.number(column.varies ? 1 : 0);
  }
  for (const auto rowid : scan.first_rowids) packed.integer(rowid);
  content.index = packed.take();
  return content;
}

std::unique_ptr<Source> open_database(const DataFile& file, const FileContent& listed, const Options& options, bool keep) {
  require_sqlite(file);
  const auto request = sqlite_request(file, options);
  auto content = listed;
  PackedReader packed(listed.index);
  content.index = packed.text();
  SqliteScan scan;
  for (auto count = packed.number(); count > 0; --count) {
    auto& column = scan.columns.emplace_back();
    column.name = packed.text();
    column.varies = packed.number() != 0;
  }
  const auto open = [&](const std::vector<std::uint64_t>& blocks) {
    scan.blocks = blocks;
    for (std::size_t i = 0; !request.is_query() && i < blocks.size(); ++i) scan.first_rowids.push_back(packed.integer());
    return open_sqlite_reader(request, scan);
  };
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
                     .help = "SELECT with ORDER BY, used instead of a table; its result is kept in memory",
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
    .help = "SQLite databases: the rows of a table or query; each column is a field, or many numbers become one vector",
    .options = sqlite_options(),
    .probe = probe_database,
    .open = open_database,
    .is_name_of = is_sqlite_name,
    .read_cache = "chunk_cache"};

}  // namespace plugins

}  // namespace trainrt::data
