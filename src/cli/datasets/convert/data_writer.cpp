#include "cli/datasets/convert/data_writer.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace trainrt::cli::datasets {

const DataWriter& data_writer_for(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  std::vector<std::string> known;
  for (const auto* writer : data_writer_table()) {
    if (writer->extension == extension) return *writer;
    known.emplace_back(writer->extension);
  }
  throw UsageError(fmt::format("'{}' does not end like a file that can be written{}; there are: {}", path,
                               did_you_mean(extension, known), join(known)));
}

void require_fixed_fields(const WriterJob& job, std::string_view what) {
  for (const auto& field : job.fields)
    if (field.varies)
      throw UsageError(
          fmt::format("the samples of '{}' vary in length, and {} has room for as many values of each only: leave it out "
                      "(--columns names the others), or write a .parquet or .jsonl file{}",
                      field.name, what, field.dtype == DType::u8 ? ", or a .csv file" : ""));
}

}  // namespace trainrt::cli::datasets
