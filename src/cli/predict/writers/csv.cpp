// Writes comma-separated values (RFC 4180): a header, and a line per sample.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "cli/files/csv_column_names.hpp"
#include "cli/files/npy_array.hpp"
#include "cli/predict/prediction_writer.hpp"
#include "core/spreadsheet.hpp"

namespace trainrt::cli::predictions::plugins {

namespace {

constexpr std::size_t piece_bytes_of_rows = std::size_t{1} << 20;  // bytes of the rows that are read at a time
constexpr std::int64_t max_columns = 65536;

std::string quoted_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string cell_of(const PredictedTable& table, const std::string& text) {
  return quoted_cell(table.for_spreadsheets ? guarded_cell(text) : text);
}

/// Returns the number of columns of a field: one for texts, otherwise the number of values per sample.
std::int64_t columns_of(const trainer::PredictedField& field) {
  return field.is_text ? 1 : element_count(field.sample_shape);
}

/// Returns the name of a column: the field's name or, if it has several columns, with an index for each axis: NAME_0_2.
std::string column_name(const trainer::PredictedField& field, std::int64_t column) {
  if (field.is_text) return field.name;
  std::string indices;
  for (auto axis = field.sample_shape.rbegin(); axis != field.sample_shape.rend(); ++axis) {
    indices.insert(0, fmt::format("_{}", column % *axis));
    column /= *axis;
  }
  return field.name + indices;
}

std::string header_of(const PredictedTable& table) {
  std::vector<std::string> names;
  for (const auto& field : table.fields)
    for (std::int64_t column = 0; column < columns_of(field); ++column)
      names.push_back(cell_of(table, column_name(field, column)));
  return fmt::format("{}\n", fmt::join(names, ","));
}

template <class T>
void append_as(std::string& line, const std::byte* value) {
  T number;
  std::memcpy(&number, value, sizeof number);
  fmt::format_to(std::back_inserter(line), "{}", number);  // the shortest text that gives the same floating-point value
}

/// Appends a value. Values of f16, bf16 and f8 must have been converted to f32.
void append_value(std::string& line, DType dtype, const std::byte* value) {
  switch (dtype) {
    case DType::f64:
      return append_as<double>(line, value);
    case DType::i64:
      return append_as<std::int64_t>(line, value);
    case DType::i32:
      return append_as<std::int32_t>(line, value);
    case DType::i16:
      return append_as<std::int16_t>(line, value);
    case DType::i8:
      line += std::to_string(static_cast<int>(static_cast<std::int8_t>(*value)));
      return;
    case DType::u8:
    case DType::boolean:
      line += std::to_string(std::to_integer<int>(*value));
      return;
    default:
      return append_as<float>(line, value);
  }
}

/// The values of consecutive rows of a field. Values of f16, bf16 and f8 have been converted to f32, because
/// append_value() does not support these types.
struct Column {
  DType dtype;
  std::size_t count;  ///< values per row
  std::vector<std::byte> bytes;
  std::size_t at = 0;          ///< offset of the next value
  std::size_t text_bytes = 0;  ///< size of each text, padded with NULs; 0 if the field has numbers
};

bool is_small_float(DType dtype) { return dtype == DType::f16 || is_widened(dtype); }

Column read_column(const PredictedTable& table, PredictedValues& values, std::size_t number, std::uint64_t first,
                   std::uint64_t rows) {
  const auto& field = table.fields[number];
  Column column{field.dtype, static_cast<std::size_t>(element_count(field.sample_shape)), values.read(number, first, rows)};
  if (field.is_text) column.text_bytes = std::exchange(column.count, 1);
  if (!is_small_float(field.dtype)) return column;
  const auto floats = widened(field.dtype, column.bytes);
  const auto bytes = std::as_bytes(std::span(floats));
  column.bytes.assign(bytes.begin(), bytes.end());
  column.dtype = DType::f32;
  return column;
}

void append_text(std::string& line, Column& column, const PredictedTable& table) {
  std::string text(reinterpret_cast<const char*>(column.bytes.data()) + column.at, column.text_bytes);
  text.resize(std::min(text.find('\0'), text.size()));
  line += cell_of(table, text);
  column.at += column.text_bytes;
}

std::string lines_of(const PredictedTable& table, std::vector<Column>& columns, std::uint64_t rows) {
  std::string text;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const auto line_at = text.size();
    for (auto& column : columns)
      for (std::size_t i = 0; i < column.count; ++i) {
        if (text.size() > line_at || &column != columns.data()) text += ',';
        if (column.text_bytes > 0) {
          append_text(text, column, table);
          continue;
        }
        append_value(text, column.dtype, column.bytes.data() + column.at);
        column.at += size_of(column.dtype);
      }
    text += '\n';
  }
  return text;
}

void require_csv(const PredictedTable& table) {
  std::int64_t columns = 0;
  for (const auto& field : table.fields) columns += columns_of(field);
  if (columns > max_columns)
    throw UsageError(fmt::format("a line would have {} values, but a .csv file may have at most {}: write .h5 or .npz",
                                 columns, max_columns));
  CsvColumnNames names("keep one under another name (--keep FIELD=NAME), or write .h5 or .npz");
  for (const auto& field : table.fields)
    for (std::int64_t column = 0; column < columns_of(field); ++column) names.add(column_name(field, column), field.name);
}

void write_csv(const PredictedTable& table, PredictedValues& values, AtomicFile& file) {
  std::uint64_t row_bytes = 1;
  for (const auto& field : table.fields) row_bytes += field.row_bytes();
  file.write(0, header_of(table));
  const auto rows_of_piece = std::max<std::uint64_t>(1, piece_bytes_of_rows / row_bytes);
  for (std::uint64_t first = 0; first < table.samples; first += rows_of_piece) {
    const auto rows = std::min(rows_of_piece, table.samples - first);
    std::vector<Column> piece;
    for (std::size_t i = 0; i < table.fields.size(); ++i) piece.push_back(read_column(table, values, i, first, rows));
    file.write(file.bytes(), lines_of(table, piece, rows));
  }
}

}  // namespace

extern const PredictionWriter csv;
const PredictionWriter csv{
    .name = "csv",
    .extension = ".csv",
    .help = "a header and a line per sample; a field with several values has the columns NAME_0, NAME_1, ...",
    .require = require_csv,
    .write = write_csv};

}  // namespace trainrt::cli::predictions::plugins
