#include "cli/terminal/table.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/text/printable.hpp"

namespace trainrt::cli {

namespace {

/// Returns the number of UTF-8 characters; each counts as one column.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  for (auto& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text(const std::string& indent) const {
  std::vector<std::vector<std::string>> rows(1);
  for (const auto& column : columns_) rows.front().push_back(printable_line(column.title));
  rows.insert(rows.end(), rows_.begin(), rows_.end());
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (columns_[i].right ? blanks + row[i] : row[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string printable(const std::string& name) {
  const bool plain = printable_line(name) == name && name.find('\t') == std::string::npos;
  return plain ? name : nlohmann::json(name).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace trainrt::cli
