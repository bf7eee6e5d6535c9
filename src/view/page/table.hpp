#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/record.hpp"
#include "view/charts/markup.hpp"

namespace trainrt::view::page {

/// A cell of a table.
struct Cell {
  Markup shown;
  std::optional<double> value = std::nullopt;  ///< sort key; without it, the cell is sorted by its text
  bool is_header = false;                      ///< whether the cell is the header of its row
};

Cell text_cell(std::string_view text);
/// Shows six digits, and has all digits in its HTML.
Cell number_cell(double number);
Cell count_cell(std::int64_t number);
Cell duration_cell(double seconds);
Cell size_cell(std::optional<double> bytes);
Cell share_cell(std::optional<double> part);
/// Shows a metric of a report, or "-" if the report does not have it. `report` may be nullptr.
Cell metric_cell(const metrics::Record* report, const std::string& metric);
Cell header_cell(std::string_view text);

struct TableColumn {
  std::string title;
  bool is_number = false;
};

struct TableModel {
  std::string caption;  ///< for screen readers
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool can_be_sorted = false;  ///< by clicks on the column titles
};

Markup table(const TableModel& model);

/// Returns a list of terms with their values: <dl>.
Markup definitions(const std::vector<std::pair<std::string, Markup>>& pairs);

}  // namespace trainrt::view::page
