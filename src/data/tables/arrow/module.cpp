// The module arrow.so. It reads and writes Parquet and Arrow files with Apache Arrow. The program does not link to
// Apache Arrow; it loads this module.
#include <string_view>

#include <trainrt/export.hpp>

#include "data/tables/arrow/arrow_input.hpp"

using trainrt::data::TableModule;
using namespace trainrt::data::arrow_module;

extern "C" TRAINRT_API const TableModule trainrt_tables;
const TableModule trainrt_tables = {
    .open =
        [](const char* format, auto input, std::uint64_t max_memory, auto blocks) {
          return std::string_view(format) == "parquet" ? open_parquet(std::move(input), max_memory)
                                                       : open_arrow(std::move(input), max_memory, std::move(blocks));
        },
    .encode = [](const char*, auto fields,
                 const std::string& compression) { return encode_parquet(std::move(fields), compression); }};
