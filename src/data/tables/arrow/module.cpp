// The module arrow.so: reads and writes Parquet and Arrow files with Apache Arrow, to which the program does not link.
#include <string_view>

#include <arrow/util/config.h>
#include <trainrt/export.hpp>

#include "data/tables/arrow/arrow_input.hpp"

namespace {

using trainrt::data::TableModule;

std::unique_ptr<const trainrt::data::TableReader> open_table(const char* format,
                                                             std::shared_ptr<const trainrt::data::TableInput> input,
                                                             std::uint64_t max_memory, std::vector<std::uint64_t> blocks) {
  using namespace trainrt::data::arrow_module;
  if (std::string_view(format) == "parquet") return open_parquet(std::move(input), max_memory);
  return open_arrow(std::move(input), max_memory, std::move(blocks));
}

std::unique_ptr<trainrt::data::TableEncoder> encode_table(const char*, std::vector<trainrt::Dataset::Field> fields,
                                                          const std::string& compression) {
  return trainrt::data::arrow_module::encode_parquet(std::move(fields), compression);
}

}  // namespace

extern "C" TRAINRT_API const TableModule trainrt_tables;
const TableModule trainrt_tables = {TableModule::current_abi, "Apache Arrow " ARROW_VERSION_STRING, open_table,
                                    encode_table};
