// A table as text (RFC 4180).
#include <functional>

#include <fmt/format.h>

#include "cli/column_names.hpp"
#include "cli/datasets/opened_data.hpp"
#include "cli/datasets/convert/text_rows.hpp"
#include "cli/datasets/value_text.hpp"
#include "core/spreadsheet.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// In quotes if it would be read as something else without. An empty text would make a row of one column an empty line.
void append_cell(std::string& text, std::string_view cell) {
  if (!cell.empty() && cell.find_first_of("\",\r\n") == cell.npos) return void(text += cell);
  text += '"';
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

void append_values(std::string& text, const Dataset::Field& field, std::span<const std::byte> sample, bool guarded) {
  const std::string_view bytes(reinterpret_cast<const char*>(sample.data()), sample.size());
  if (field.varies) return append_cell(text, guarded ? guarded_cell(bytes) : bytes);
  for (std::size_t at = 0; at < sample.size(); at += size_of(field.dtype)) {
    if (at > 0) text += ',';
    if (!is_nan(sample.data() + at, field.dtype)) append_number(text, sample.data() + at, field.dtype);
  }
}

/// A field of several numbers is as many columns: x_0, x_1, ...
void each_column(const WriterJob& job, const std::function<void(const std::string& name, const std::string& field)>& take) {
  for (const auto& field : job.fields) {
    if (field.varies || field.sample_shape.empty()) {
      take(field.name, field.name);
      continue;
    }
    for (std::int64_t i = 0; i < element_count(field.sample_shape); ++i)
      take(fmt::format("{}_{}", field.name, i), field.name);
  }
}

std::string csv_head(const WriterJob& job) {
  std::string head;
  each_column(job, [&](const std::string& name, const std::string&) {
    if (!head.empty()) head += ',';
    append_cell(head, job.for_spreadsheets ? guarded_cell(name) : name);
  });
  return head + "\n";
}

void require_csv(const WriterJob& job) {
  for (const auto& field : job.fields) {
    if (field.varies && field.dtype != DType::u8)
      throw UsageError(
          fmt::format("the samples of '{}' vary in length, and a table has as many columns in each row: leave "
                      "it out (--columns names the others), or write a .parquet or .jsonl file",
                      field.name));
    if (!field.varies && element_count(field.sample_shape) == 0)
      throw UsageError(fmt::format("the samples of '{}' hold no values, which no column of a table is", field.name));
  }
  ColumnNames names("leave one out (--columns names the others), or write a .parquet, .jsonl, .h5 or .npz file");
  each_column(job, [&](const std::string& name, const std::string& field) { names.add(name, field); });
}

std::unique_ptr<RowWriter> open_csv_writer(const WriterJob& job, ResumableFile& file) {
  const auto line = [fields = job.fields, guarded = job.for_spreadsheets](std::string& text, const RowBlock& block,
                                                                          std::uint64_t row) {
    const auto begin = text.size();
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i > 0) text += ',';
      append_values(text, fields[i], sample_of(fields[i], block.columns[i], row), guarded);
    }
    if (text.size() == begin) text += "\"\"";
    text += '\n';
  };
  return std::make_unique<TextRows>(file, csv_head(job), line);
}

}  // namespace

extern const DataWriter csv;
const DataWriter csv{.name = "csv",
                     .extension = ".csv",
                     .help = "a table as text, numbers as short as they are exact; a vector is a column a number",
                     .compressions = {},
                     .require = require_csv,
                     .goes_on = [](const WriterJob&) { return true; },
                     .open = open_csv_writer};

}  // namespace trainrt::cli::datasets::plugins
