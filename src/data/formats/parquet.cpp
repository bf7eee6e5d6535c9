#include "data/tables/arrow_loader.hpp"
#include "data/tables/table_source.hpp"

namespace trainrt::data {

namespace {

FileContent look_at_parquet(const DataFile& file, const Options& options) {
  return content_of(
      table_plan(*open_arrow_file("parquet", file, ExpansionLimit(options, file.size), {}), options, file.path));
}

std::unique_ptr<Source> open_parquet_file(const DataFile& file, const FileContent& content, const Options& options,
                                          bool keep) {
  return open_table(file, content, options, keep ? Keep::if_small : Keep::never, [&](std::vector<std::uint64_t> blocks) {
    return open_arrow_file("parquet", file, ExpansionLimit(options, file.size), std::move(blocks));
  });
}

bool is_parquet_name(std::string_view path) { return path.ends_with(".parquet") || path.ends_with(".pq"); }

}  // namespace

namespace plugins {

extern const Format parquet{
    .name = "parquet",
    .help =
        "Parquet files, by Apache Arrow, where trainrt was built with it: each column a field, or many numbers one vector",
    .options = table_options(),
    .look = look_at_parquet,
    .open = open_parquet_file,
    .is_name_of = is_parquet_name,
    .read_cache = "chunk_cache",
    .checksums = "CRC-32 of pages, if they were written with one"};

}  // namespace plugins

}  // namespace trainrt::data
