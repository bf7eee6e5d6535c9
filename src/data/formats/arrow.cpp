#include "data/tables/arrow_loader.hpp"
#include "data/tables/table_source.hpp"

namespace trainrt::data {

namespace {

FileContent look_at_arrow(const DataFile& file, const Options& options) {
  return content_of(
      table_plan(*open_arrow_file("arrow", file, ExpansionLimit(options, file.size), {}), options, file.path));
}

std::unique_ptr<Source> open_arrow_table(const DataFile& file, const FileContent& content, const Options& options,
                                         bool keep) {
  return open_table(file, content, options, keep ? Keep::if_small : Keep::never, [&](std::vector<std::uint64_t> blocks) {
    return open_arrow_file("arrow", file, ExpansionLimit(options, file.size), std::move(blocks));
  });
}

bool is_arrow_name(std::string_view path) {
  return path.ends_with(".arrow") || path.ends_with(".feather") || path.ends_with(".ipc");
}

}  // namespace

namespace plugins {

extern const Format arrow{
    .name = "arrow",
    .help = "Arrow's IPC files and Feather (version 2), by Apache Arrow, where trainrt was built with it: as Parquet",
    .options = table_options(),
    .look = look_at_arrow,
    .open = open_arrow_table,
    .is_name_of = is_arrow_name,
    .read_cache = "chunk_cache"};

}  // namespace plugins

}  // namespace trainrt::data
