#include "data/records/record_formats.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/bytes/coding/packed.hpp"
#include "data/bytes/log_once.hpp"
#include "data/records/csv_decoder.hpp"
#include "data/records/csv_layout.hpp"
#include "data/text/column_notes.hpp"

namespace trainrt::data {

namespace {

std::vector<std::string> first_row(const InputFile& file, const RowScan& scan, const CsvOptions& options) {
  std::string row(scan.first_end - scan.first_begin, '\0');
  file.read(scan.first_begin, std::as_writable_bytes(std::span(row)));
  return csv_values(without_break(row), options.delimiter, options.quotes);
}

/// Returns whether `value`, in a column of numbers, probably means that the number is missing, like "NA". Such a word
/// has no digits. Returns false for a word with a comma, because commas separate the words in the key `na`.
bool is_word_for_missing(std::string_view value) {
  return !value.empty() && std::ranges::none_of(value, [](char c) { return c == ',' || (c >= '0' && c <= '9'); });
}

/// Prints a warning if a column is text although most of its values are numbers, or if a column of numbers loses
/// leading zeros.
void warn_of(const ColumnNotes& notes, const CsvColumn& column, const std::string& path) {
  const auto name = excerpt(column.name, 60);
  const auto& zero = notes.leading_zero();
  if (!column.type.is_text && zero)
    warning_once(
        fmt::format("'{}': column '{}' is read as numbers, without the leading zeros of '{}' in row {}; "
                    "set types = {}:text to keep them",
                    path, name, zero->text, zero->row + 1, name));
  const auto odd = notes.odd_value();
  if (!column.type.is_text || !odd) return;
  const auto advice = is_word_for_missing(odd->text) ? fmt::format("set na = {} to read it as a missing number", odd->text)
                                                     : "correct the values that are not numbers";
  warning_once(
      fmt::format("'{}': column '{}' is text, not numbers: {} of {} values are numbers, but row {} has '{}'. "
                  "You can {}, or set types = {}:text to keep text without this warning",
                  path, name, notes.numbers(), notes.values(), odd->row + 1, odd->text, advice, name));
}

/// Infers the types of the columns that are read. A type in the key `types` has precedence.
void infer_types(std::vector<CsvColumn>& columns, const RecordFile& records, const CsvOptions& options, bool quotes,
                 std::uint64_t probed) {
  const CsvDecoder decoder(records.path(), columns, options, quotes);
  std::vector<ColumnNotes> notes(columns.size());
  std::string scratch;
  records.read_first(probed, [&](const Record& record, std::size_t) {
    const auto *at = record.text.data(), *const end = at + record.text.size();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto value = csv_value(at, end, options.delimiter, quotes, scratch);
      notes[i].see(decoder.kind_of(value.text), value.text, record.row);
      at = value.end + (value.end == end ? 0 : 1);
    }
  });
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!columns[i].is_read || options.types.contains(columns[i].name)) continue;
    columns[i].type = notes[i].type();
    warn_of(notes[i], columns[i], records.path());
  }
}

std::vector<std::string> vector_columns(const std::vector<CsvColumn>& columns, const std::vector<Dataset::Field>& fields,
                                        const std::string& vector) {
  std::vector<std::string> names;
  for (const auto& column : columns)
    if (!vector.empty() && column.is_read && fields[column.field].name == vector) names.push_back(column.name);
  return names;
}

void warn_of_delimiter(const std::vector<CsvColumn>& columns, const std::string& path) {
  if (columns.size() != 1) return;
  const auto at = columns.front().name.find_first_of(";\t|");
  if (at == std::string::npos) return;
  const auto found = columns.front().name[at];
  warning_once(fmt::format("'{}' has one column, '{}'; set delimiter = {} to split it", path,
                           excerpt(columns.front().name, 60), found == '\t' ? std::string("tab") : std::string(1, found)));
}

/// The structure that FileContent::index of a CSV file encodes.
struct CsvIndex {
  bool quotes = false;  ///< whether values may be in quotes and the file contains quotes
  std::vector<CsvColumn> columns;
  RecordIndex records;

  static auto packed_members(auto& self) { return std::tie(self.quotes, self.columns, self.records); }
};

std::unique_ptr<RecordSource> csv_source(std::shared_ptr<const RecordFile> records, std::vector<Dataset::Field> fields,
                                         const CsvIndex& index, const CsvOptions& options, bool keep) {
  auto decoder = std::make_shared<const CsvDecoder>(records->path(), index.columns, options, index.quotes);
  return std::make_unique<RecordSource>(
      std::move(records), std::move(fields),
      [decoder = std::move(decoder)](std::span<Column> columns) { return decoder->pass(columns); }, keep);
}

void require_one_name_each(const std::vector<Dataset::Field>& fields, const CsvOptions& options, const std::string& path) {
  const auto& vector = options.vector.name;
  const auto same = std::ranges::count(fields, vector, &Dataset::Field::name);
  if (!vector.empty() && same == 0)
    throw UsageError(fmt::format(
        "vector: '{}' has no column of numbers to combine; columns that the key 'types' names are not combined", path));
  if (same > 1)
    throw UsageError(
        fmt::format("vector: '{}' also has a column called '{}'; choose another name for the vector", path, vector));
}

}  // namespace

FileContent probe_csv(const DataFile& file, const Options& given, const RecordLimits& limits) {
  const auto options = csv_options(given, file.path);
  const auto input = open_text_file(file);
  auto scan = scan_rows(*input,
                        {.quotes = options.quotes,
                         .delimiter = options.skips_errors ? '\n' : options.delimiter,
                         .header = options.header,
                         .max_row_bytes = options.max_record_bytes},
                        limits.spacing);
  if (scan.index.records() == 0) throw UsageError(fmt::format("'{}' has no records", file.path));
  const bool quotes = scan.has_quotes && options.quotes;
  auto columns = csv_columns(first_row(*input, scan, options), options.header, file.path);
  warn_of_delimiter(columns, file.path);
  choose_columns(columns, options, file.path);
  const auto records = std::make_shared<RecordFile>(input, scan.index, quotes, true);
  const auto probed = records->records_within(limits.max_probed, limits.max_probed_bytes);
  infer_types(columns, *records, options, quotes, probed);
  FileContent content{records->size(), assign_fields(columns, options), {}, Reading::by_record};
  require_one_name_each(content.fields, options, file.path);
  content.vector_columns = vector_columns(columns, content.fields, options.vector.name);
  const CsvIndex index{quotes, std::move(columns), std::move(scan.index)};
  if (!options.skips_errors) csv_source(records, content.fields, index, options, false)->check_first(probed);
  content.index = packed(index);
  return content;
}

std::unique_ptr<Source> open_csv(const DataFile& file, const FileContent& content, const Options& given, bool keep) {
  auto index = unpacked<CsvIndex>(content.index);
  auto records = std::make_shared<RecordFile>(open_text_file(file), std::move(index.records), index.quotes, true);
  return csv_source(std::move(records), content.fields, index, csv_options(given, file.path), keep);
}

}  // namespace trainrt::data
