// Writes a table as text (RFC 4180).
#include <functional>

#include <fmt/format.h>

#include "cli/data/convert/row_writers.hpp"
#include "cli/data/opened_data.hpp"
#include "cli/data/value_text.hpp"
#include "cli/files/csv_column_names.hpp"
#include "core/spreadsheet.hpp"

namespace trainrt::cli::datasets::plugins {

namespace {

/// Appends a cell to the row `text`. A cell with special characters is put in quotes, and so is an empty cell: a row
/// with a single empty cell would be an empty line.
void append_cell(std::string& text, std::string_view cell) {
  if (!cell.empty() && cell.find_first_of("\",\r\n") == cell.npos) return void(text += cell);
  text += '"';
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  text += '"';
}

void append_values(std::string& text, const Dataset::Field& field, std::span<const std::byte> sample,
                   bool escapes_formulas) {
  const std::string_view bytes(reinterpret_cast<const char*>(sample.data()), sample.size());
  if (field.varies) return append_cell(text, escapes_formulas ? guarded_cell(bytes) : bytes);
  for (std::size_t at = 0; at < sample.size(); at += size_of(field.dtype)) {
    if (at > 0) text += ',';
    if (!is_nan(sample.data() + at, field.dtype)) append_number(text, sample.data() + at, field.dtype);
  }
}

/// Calls `take` for each column of the table. A field with several numbers has the columns NAME_0, NAME_1, ...
void each_column(const WriterJob& job, const std::function<void(const std::string& name, const std::string& field)>& take) {
  for (const auto& field : job.fields)
    if (field.varies || field.sample_shape.empty())
      take(field.name, field.name);
    else
      for (std::int64_t i = 0; i < element_count(field.sample_shape); ++i)
        take(fmt::format("{}_{}", field.name, i), field.name);
}

std::string csv_head(const WriterJob& job) {
  std::string head;
  each_column(job, [&](const std::string& name, const std::string&) {
    if (!head.empty()) head += ',';
    append_cell(head, job.escapes_formulas ? guarded_cell(name) : name);
  });
  return head + "\n";
}

void require_csv(const WriterJob& job) {
  for (const auto& field : job.fields) {
    if (field.varies && field.dtype != DType::u8) require_fixed_fields({.fields = {field}}, "a table");
    if (!field.varies && element_count(field.sample_shape) == 0)
      throw UsageError(
          fmt::format("the samples of '{}' have no values, so they cannot be a column: "
                      "choose other fields with --columns",
                      field.name));
  }
  CsvColumnNames names("choose other fields with --columns, or write a .parquet, .jsonl, .h5 or .npz file");
  each_column(job, [&](const std::string& name, const std::string& field) { names.add(name, field); });
}

std::unique_ptr<RowWriter> open_csv_writer(const WriterJob& job, ResumableFile& file) {
  const auto line = [job](std::string& text, const RowBlock& block, std::uint64_t row) {
    const auto begin = text.size();
    for (std::size_t i = 0; i < job.fields.size(); ++i) {
      if (i > 0) text += ',';
      append_values(text, job.fields[i], sample_of(job.fields[i], block.columns[i], row), job.escapes_formulas);
    }
    if (text.size() == begin) text += "\"\"";
    text += '\n';
  };
  return std::make_unique<LineWriter>(file, csv_head(job), line);
}

}  // namespace

extern const DataWriter csv;
const DataWriter csv{.name = "csv",
                     .extension = ".csv",
                     .help = "a table as text; numbers in their shortest exact form; a vector has a column for each number",
                     .compressions = {},
                     .require = require_csv,
                     .is_resumable = [](const WriterJob&) { return true; },
                     .open = open_csv_writer};

}  // namespace trainrt::cli::datasets::plugins
