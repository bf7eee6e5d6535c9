#include "cli/data/convert/data_writer.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace trainrt::cli::datasets {

Shape WriterJob::shape_of(const Dataset::Field& field) const {
  Shape shape{static_cast<std::int64_t>(rows)};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  return shape;
}

const DataWriter& data_writer_for(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  std::vector<std::string> extensions;
  for (const auto* writer : data_writer_table()) {
    if (writer->extension == extension) return *writer;
    extensions.emplace_back(writer->extension);
  }
  throw UsageError(fmt::format("unknown extension of the output file '{}'{}; valid extensions are {}", path,
                               did_you_mean(extension, extensions), join(extensions)));
}

void require_fixed_fields(const WriterJob& job, std::string_view file_kind) {
  for (const auto& field : job.fields)
    if (field.varies)
      throw UsageError(
          fmt::format("the samples of '{}' vary in length, which {} cannot store: choose other fields with --columns, or "
                      "write a .parquet or .jsonl file{}",
                      field.name, file_kind, field.dtype == DType::u8 ? ", or a .csv file" : ""));
}

void require_standard_types(const WriterJob& job, std::string_view file_kind) {
  for (const auto& field : job.fields)
    if (field.dtype == DType::bf16 || field.dtype == DType::f8e4m3 || field.dtype == DType::f8e5m2)
      throw UsageError(
          fmt::format("'{}' has the type {}, which {} cannot store: choose other fields with --columns, or write an .h5 "
                      "file",
                      field.name, name_of(field.dtype), file_kind));
}

}  // namespace trainrt::cli::datasets
