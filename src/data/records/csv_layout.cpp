#include "data/records/csv_layout.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/text/text.hpp"
#include "data/source/skipping_reader.hpp"

namespace trainrt::data {

namespace {

char delimiter_of(const std::string& given, const std::string& path) {
  if (given.empty()) return path.ends_with(".tsv") ? '\t' : ',';
  return given == "tab" || given == "\\t" ? '\t' : given.front();
}

bool is_given(const CsvColumn& column, const CsvOptions& options) { return options.types.contains(column.name); }

const char* find_or_end(const char* begin, const char* end, char wanted) {
  if (begin == end) return end;
  const auto* found = static_cast<const char*>(std::memchr(begin, wanted, static_cast<std::size_t>(end - begin)));
  return found == nullptr ? end : found;
}

CsvValue quoted_value(const char* begin, const char* end, char delimiter, std::string& scratch) {
  const char* at = begin + 1;
  const char* quote = find_or_end(at, end, '"');
  if (quote != end && (quote + 1 == end || quote[1] == delimiter))
    return {{at, static_cast<std::size_t>(quote - at)}, quote + 1};
  for (scratch.clear();; quote = find_or_end(at, end, '"')) {
    if (quote == end) throw UsageError("the row has a quote that is not closed; close it, or set quotes = false");
    scratch.append(at, quote);
    if (quote + 1 == end || quote[1] != '"') break;
    scratch += '"';
    at = quote + 2;
  }
  if (quote + 1 != end && quote[1] != delimiter) refuse_quote({begin, static_cast<std::size_t>(end - begin)});
  return {scratch, quote + 1};
}

}  // namespace

void refuse_quote(std::string_view text) {
  throw UsageError(
      fmt::format("unexpected quote in '{}'. "
                  "Put values with quotes in quotes and double the quotes in them, or set quotes = false",
                  join(printable_lines(excerpt(text, 20)), "\\n")));
}

CsvOptions csv_options(const Options& options, const std::string& path) {
  CsvOptions made{.delimiter = delimiter_of(options.text("delimiter"), path),
                  .quotes = options.boolean("quotes"),
                  .header = options.boolean("header"),
                  .max_record_bytes = options.bytes("max_record_bytes"),
                  .columns = words_in(options.text("columns")),
                  .types = given_types(options.text("types")),
                  .vector = vector_field(options.text("vector")),
                  .skips_errors = skips_errors(options),
                  .missing = words_in(options.text("na"))};
  made.missing.emplace_back();
  return made;
}

std::vector<CsvColumn> csv_columns(const std::vector<std::string>& first_row, bool header, const std::string& path) {
  std::vector<CsvColumn> columns;
  std::set<std::string> names;
  for (const auto& value : first_row) {
    auto name = header ? trim(value) : "";
    if (name.empty()) name = fmt::format("c{}", columns.size());
    if (!is_utf8(name)) throw UsageError(fmt::format("'{}': the name of a column is not valid UTF-8", path));
    if (!names.insert(name).second)
      throw UsageError(
          fmt::format("'{}': two columns have the name '{}'; if the first row is no header, set header = false", path,
                      excerpt(name, 60)));
    columns.push_back({.name = std::move(name)});
  }
  return columns;
}

void choose_columns(std::vector<CsvColumn>& columns, const CsvOptions& options, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  require_known(options.columns, options.types, names, path);
  const std::set<std::string> chosen(options.columns.begin(), options.columns.end());
  for (auto& column : columns) {
    column.is_read = chosen.empty() || chosen.contains(column.name);
    if (is_given(column, options)) column.type = options.types.at(column.name);
  }
}

std::vector<Dataset::Field> assign_fields(std::vector<CsvColumn>& columns, const CsvOptions& options) {
  std::vector<Dataset::Field> fields;
  std::optional<std::size_t> vector;
  for (auto& column : columns) {
    if (!column.is_read) continue;
    const bool in_vector = !options.vector.name.empty() && !column.type.is_text && !is_given(column, options);
    column.must_fit = column.type == ValueType::number(DType::f64) && !in_vector && !is_given(column, options);
    if (in_vector) column.type.dtype = options.vector.dtype;
    if (in_vector && vector) {
      column.field = *vector;
      column.offset = size_of(options.vector.dtype) * static_cast<std::size_t>(fields[*vector].sample_shape[0]++);
      continue;
    }
    column.field = fields.size();
    if (in_vector) {
      vector = column.field;
      fields.push_back({options.vector.name, options.vector.dtype, {1}});
    } else {
      fields.push_back({column.name, column.type.dtype, {}, column.type.is_text});
    }
  }
  return fields;
}

CsvValue csv_value(const char* begin, const char* end, char delimiter, bool quotes, std::string& scratch) {
  if (quotes && begin != end && *begin == '"') return quoted_value(begin, end, delimiter, scratch);
  const auto* stop = find_or_end(begin, end, delimiter);
  return {{begin, static_cast<std::size_t>(stop - begin)}, stop};
}

std::vector<std::string> csv_values(std::string_view row, char delimiter, bool quotes) {
  std::vector<std::string> values;
  std::string scratch;
  const auto* end = row.data() + row.size();
  for (const auto* at = row.data();; ++at) {
    const auto value = csv_value(at, end, delimiter, quotes, scratch);
    values.emplace_back(value.text);
    at = value.end;
    if (at == end) return values;
  }
}

}  // namespace trainrt::data
