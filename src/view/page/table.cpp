#include "view/page/table.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "core/options.hpp"
#include "core/short_number.hpp"
#include "core/text/byte_size.hpp"
#include "view/page/number_texts.hpp"

namespace trainrt::view::page {

namespace {

/// Returns a number as a <data> element, which shows `shown`. Its title and its value have all digits.
Markup number_markup(const std::string& shown, const std::string& exact) {
  Attributes attributes{{"value", exact}};
  if (shown != exact) attributes.push_back({"title", exact});
  return element("data", attributes, shown);
}

}  // namespace

Cell text_cell(std::string_view shown) { return {.shown = text(shown)}; }

Cell number_cell(double number) {
  return {.shown = number_markup(number_text(number), fmt::format("{}", number)), .value = number};
}

Cell value_cell(const std::string& value) {
  const auto number = parse_real(value);
  if (!number) return text_cell(value);
  return {.shown = number_markup(short_number(value), value), .value = number};
}

Cell count_cell(std::int64_t number) {
  return {.shown = text(std::to_string(number)), .value = static_cast<double>(number)};
}

Cell duration_cell(double seconds) { return {.shown = text(duration_text(seconds)), .value = seconds}; }

Cell size_cell(std::optional<double> bytes) {
  constexpr double max_bytes = 1e18;  // a record may contain any number
  if (!bytes) return text_cell("-");
  return {.shown = text(byte_size(static_cast<std::uint64_t>(std::clamp(*bytes, 0.0, max_bytes)))), .value = bytes};
}

Cell share_cell(std::optional<double> part) {
  return part ? Cell{.shown = text(share_text(*part)), .value = part} : text_cell("-");
}

Cell metric_cell(const metrics::Record* report, const std::string& metric) {
  const auto* value = report != nullptr ? report->find(metric) : nullptr;
  if (value == nullptr) return text_cell("-");
  const auto number = metrics::Record::real_of(*value);
  if (!number) return text_cell(std::get<std::string>(*value));
  return {.shown = number_markup(number_text(*number), exact_text(*value)), .value = number};
}

Cell header_cell(std::string_view shown) { return {.shown = text(shown), .value = std::nullopt, .is_header = true}; }

namespace {

Markup cell_markup(const Cell& cell, const TableColumn& column) {
  Attributes attributes;
  if (column.is_number) attributes.push_back({"class", "number"});
  if (cell.value && std::isfinite(*cell.value)) attributes.push_back({"data-value", fmt::format("{}", *cell.value)});
  if (cell.is_header) attributes.push_back({"scope", "row"});
  return element(cell.is_header ? "th" : "td", attributes, cell.shown);
}

}  // namespace

Markup table(const TableModel& model) {
  Markup titles, rows;
  for (const auto& column : model.columns) {
    Attributes attributes = {{"scope", "col"}};
    if (column.is_number) attributes.push_back({"class", "number"});
    if (!column.order.empty()) attributes.push_back({"aria-sort", column.order});
    titles += element("th", attributes, column.title);
  }
  for (const auto& row : model.rows) {
    Markup cells;
    for (std::size_t i = 0; i < row.size() && i < model.columns.size(); ++i) cells += cell_markup(row[i], model.columns[i]);
    rows += element("tr", {}, cells);
  }
  auto content = element("caption", {}, model.caption);
  content += element("thead", {}, element("tr", {}, titles));
  content += element("tbody", {}, rows);
  Attributes kind;
  if (model.can_be_sorted) kind.push_back({"data-sortable", ""});
  if (model.wraps) kind.push_back({"class", "wraps"});
  // In a narrow window, the user can scroll the table, also with the keyboard.
  return element("div", {{"class", "table"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", model.caption}},
                 element("table", kind, content));
}

Markup definitions(const std::vector<std::pair<std::string, Markup>>& pairs) {
  Markup content;
  for (const auto& [term, value] : pairs) {
    auto pair = element("dt", {}, term);
    pair += element("dd", {}, value);
    content += element("div", {}, pair);
  }
  return element("dl", {}, content);
}

}  // namespace trainrt::view::page
