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
  std::optional<double> value =
      std::nullopt;        ///< number by which a column is sorted; a cell without a number is sorted by its text
  bool is_header = false;  ///< whether the cell is the header of its row
};

Cell text_cell(std::string_view text);
/// Returns a cell that shows six digits of `number`. The title of the cell has all digits.
Cell number_cell(double number);
/// Returns a cell with the value of a config key. A number with more than six digits is shortened; its title has all
/// digits.
Cell value_cell(const std::string& value);
Cell count_cell(std::int64_t number);
Cell duration_cell(double seconds);
Cell size_cell(std::optional<double> bytes);
Cell share_cell(std::optional<double> part);
/// Returns a cell with a metric of `report`, or with "-" if the report does not have the metric. `report` may be
/// nullptr.
Cell metric_cell(const metrics::Record* report, const std::string& metric);
Cell header_cell(std::string_view text);

struct TableColumn {
  std::string title;
  bool is_number = false;
  std::string order = {};  ///< "ascending" or "descending" if the rows are sorted by this column, or ""
};

struct TableModel {
  std::string caption;  ///< description for screen readers
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  bool can_be_sorted = false;  ///< whether clicks on the column titles sort the table
  bool wraps = false;          ///< whether texts are broken into lines, so that a table with many columns fits the page
};

Markup table(const TableModel& model);

/// Returns a <dl> element: a list of terms with their values.
Markup definitions(const std::vector<std::pair<std::string, Markup>>& pairs);

}  // namespace trainrt::view::page
