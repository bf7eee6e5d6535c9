#include "data/source/format.hpp"
#include "data/tables/arrow_loader.hpp"
#include "data/tables/table_plan.hpp"

namespace trainrt::data::plugins {

extern const Format parquet{
    .name = "parquet",
    .help = "Parquet files: each column is a field, or many numbers become one vector; needs a build with Apache Arrow",
    .options = table_options(),
    .probe = [](const DataFile& file, const Options& options) { return probe_arrow_file("parquet", file, options); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_arrow_file("parquet", file, content, options, keep); },
    .is_name_of = [](std::string_view path) { return path.ends_with(".parquet") || path.ends_with(".pq"); },
    .read_cache = "chunk_cache",
    .checksums = "CRC-32 per page, if the file was written with it"};

}  // namespace trainrt::data::plugins
