// The module arrow.so: Parquet and Arrow files, read by Apache Arrow, which the program itself does not need.
#include <string_view>

#include <arrow/util/config.h>
#include <trainrt/export.hpp>

#include "data/tables/arrow/arrow_input.hpp"

namespace {

using trainrt::data::TableModule;

std::unique_ptr<const trainrt::data::TableFile> open_table(const char* kind,
                                                           std::shared_ptr<const trainrt::data::TableInput> input,
                                                           std::uint64_t most_memory, std::vector<std::uint64_t> blocks) {
  using namespace trainrt::data::arrow_module;
  if (std::string_view(kind) == "parquet") return open_parquet(std::move(input), most_memory);
  return open_arrow(std::move(input), most_memory, std::move(blocks));
}

std::unique_ptr<trainrt::data::TableEncoder> encode_table(const char*, std::vector<trainrt::Dataset::Field> fields,
                                                          const std::string& compression) {
  return trainrt::data::arrow_module::encode_parquet(std::move(fields), compression);
}

}  // namespace

extern "C" TRAINRT_API const TableModule trainrt_tables;
const TableModule trainrt_tables = {TableModule::current_abi, "Apache Arrow " ARROW_VERSION_STRING, open_table,
                                    encode_table};
