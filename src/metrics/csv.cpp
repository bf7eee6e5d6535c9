#include "metrics/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/spreadsheet.hpp"
#include "metrics/record_json.hpp"

namespace trainrt::metrics {

namespace {

std::string quotes_around(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

bool needs_quotes(const std::string& text) { return text.find_first_of(",\"\r\n") != std::string::npos; }

template <class T>
std::optional<T> number_from(std::string_view text) {
  T number{};
  const auto* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

/// Parses a CSV cell that is not quoted: returns its value as an integer, a real number or a text.
Record::Value plain_value(const std::string& text) {
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  const bool like_a_number = !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string::npos;
  if (!like_a_number) return text;
  if (const auto whole = number_from<std::int64_t>(text)) return *whole;
  if (const auto real = number_from<double>(text)) return *real;
  return text;
}

std::string cell(double number) {
  if (std::isnan(number)) return "nan";
  auto text = fmt::format("{}", number);
  if (text.find_first_not_of("0123456789-") == std::string::npos) text += ".0";
  return text;
}
std::string cell(std::int64_t number) { return fmt::format("{}", number); }
std::string cell(const std::string& text) {
  const bool is_clear = !text.empty() && std::holds_alternative<std::string>(plain_value(text));
  return needs_quotes(text) || !is_clear ? quotes_around(guarded_cell(text)) : guarded_cell(text);
}

struct CsvCell {
  std::string text;
  bool quoted = false;
};

/// Splits the content of a CSV file into rows of cells.
class CsvRows {
 public:
  explicit CsvRows(std::string_view text) : rest_(text) {}

  /// Returns the cells of the next CSV row; nullopt at the end of the text, or if the row is incomplete.
  std::optional<std::vector<CsvCell>> next() {
    std::vector<CsvCell> cells;
    while (auto cell = next_cell()) {
      cells.push_back(std::move(*cell));
      if (rest_.empty()) return std::nullopt;
      const char after = rest_.front();
      rest_.remove_prefix(1);
      if (after == '\n') return cells;
      if (after != ',') return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<CsvCell> next_cell() {
    CsvCell cell;
    cell.quoted = rest_.starts_with('"');
    if (cell.quoted) return quoted_cell();
    const auto end = rest_.find_first_of(",\n");
    if (end == std::string_view::npos) return std::nullopt;
    cell.text = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return cell;
  }

  std::optional<CsvCell> quoted_cell() {
    CsvCell cell{"", true};
    for (rest_.remove_prefix(1);;) {
      const auto quote = rest_.find('"');
      if (quote == std::string_view::npos) return std::nullopt;
      cell.text += rest_.substr(0, quote);
      rest_.remove_prefix(quote + 1);
      if (!rest_.starts_with('"')) return cell;
      cell.text += '"';
      rest_.remove_prefix(1);
    }
  }

  std::string_view rest_;
};

std::optional<Record> record_of(const std::vector<CsvCell>& header, const std::vector<CsvCell>& row) {
  if (row.size() != header.size()) return std::nullopt;
  Record record;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto name = unguarded_cell(header[i].text);
    auto text = unguarded_cell(row[i].text);
    if (row[i].quoted || text != row[i].text)
      record.values.emplace_back(name, std::move(text));
    else if (!text.empty())
      record.values.emplace_back(name, plain_value(text));
  }
  const auto* iteration = record.find(iteration_key);
  const auto* number = iteration != nullptr ? std::get_if<std::int64_t>(iteration) : nullptr;
  if (number == nullptr || *number < 1) return std::nullopt;
  record.iteration = *number;
  std::ranges::stable_partition(record.values, [](const auto& value) { return !value.first.starts_with("_"); });
  return record;
}

}  // namespace

std::string csv_header(const std::vector<std::string>& columns) {
  std::string text;
  for (const auto& column : columns) {
    const auto name = guarded_cell(column);
    text += (text.empty() ? "" : ",") + (needs_quotes(name) || name.empty() ? quotes_around(name) : name);
  }
  return columns.empty() ? text : text + "\n";
}

std::string csv_row(const std::vector<std::string>& columns, const Record& record) {
  std::string line;
  for (const auto& column : columns) {
    if (&column != &columns.front()) line += ",";
    if (const auto* value = record.find(column)) line += std::visit([](const auto& v) { return cell(v); }, *value);
  }
  return line + "\n";
}

std::vector<Record> csv_records(std::string_view text) {
  CsvRows rows(text);
  std::vector<Record> records;
  const auto header = rows.next();
  if (!header) return records;
  while (const auto row = rows.next()) {
    auto record = record_of(*header, *row);
    if (!record) break;
    records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace trainrt::metrics
