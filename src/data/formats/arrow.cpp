#include "data/source/format.hpp"
#include "data/tables/arrow_loader.hpp"
#include "data/tables/table_plan.hpp"

namespace trainrt::data::plugins {

extern const Format arrow{
    .name = "arrow",
    .help =
        "Arrow IPC files and Feather files (version 2): "
        "each column is a field, or many numbers become one vector; needs a build with Apache Arrow",
    .options = table_options(),
    .probe = [](const DataFile& file, const Options& options) { return probe_arrow_file("arrow", file, options); },
    .open = [](const DataFile& file, const FileContent& content, const Options& options,
               bool keep) { return open_arrow_file("arrow", file, content, options, keep); },
    .is_name_of =
        [](std::string_view path) {
          return path.ends_with(".arrow") || path.ends_with(".feather") || path.ends_with(".ipc");
        },
    .read_cache = "chunk_cache"};

}  // namespace trainrt::data::plugins
