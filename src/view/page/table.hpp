#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "view/page/markup.hpp"

namespace trainrt::view::page {

/// A cell of a table: what is shown, and by which number its column is sorted, if that is no text.
struct Cell {
  Markup shown;
  std::optional<double> value = std::nullopt;
  bool is_header = false;  ///< it names its row
};

Cell word(std::string_view text);
/// "" stands for a cell without a number.
Cell figure(double number);
Cell count(std::int64_t number);
Cell duration(double seconds);
Cell size(std::optional<double> bytes);
Cell share(std::optional<double> part);
Cell name_cell(std::string_view text);

struct Column {
  std::string title;
  bool is_number = false;
};

struct TableModel {
  std::string caption;  ///< for those who hear the page
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  bool can_be_sorted = false;  ///< by its titles, if scripts run
};

Markup table(const TableModel& model);

/// Terms and what belongs to them, side by side: <dl>.
Markup definitions(const std::vector<std::pair<std::string, Markup>>& pairs);

}  // namespace trainrt::view::page
