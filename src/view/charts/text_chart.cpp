#include "view/charts/text_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text/display_width.hpp"
#include "view/charts/axis.hpp"

namespace trainrt::view {

namespace {

constexpr std::string_view symbols = "o+x#%=@&";
constexpr std::array<std::string_view, color_count> colors = {"38;5;32",  "38;5;166", "38;5;35", "38;5;133",
                                                              "38;5;136", "38;5;74",  "38;5;98", "38;5;102"};

/// A character of the chart, with the style of its series.
struct Symbol {
  char character = ' ';
  std::size_t style = 0;
};

/// The plot area of a text chart as a grid of characters. Row 0 is at the top.
class Grid {
 public:
  Grid(std::size_t columns, std::size_t rows) : columns_(columns), symbols_(columns * rows), rows_(rows) {}
  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return rows_; }

  std::size_t column(double position) const { return index(position, columns_); }
  std::size_t row(double position) const { return index(1 - position, rows_); }
  void put(std::size_t column, std::size_t row, Symbol symbol) { symbols_[row * columns_ + column] = symbol; }

  /// Draws a straight line between two points. The coordinates are positions from 0 to 1.
  void draw_line(double x0, double y0, double x1, double y1, Symbol symbol) {
    const double across = std::abs(x1 - x0) * static_cast<double>(columns_),
                 down = std::abs(y1 - y0) * static_cast<double>(rows_);
    const auto steps = static_cast<int>(std::ceil(std::max({across, down, 1.0})));
    for (int i = 0; i <= steps; ++i) {
      const double part = static_cast<double>(i) / steps;
      put(column(x0 + part * (x1 - x0)), row(y0 + part * (y1 - y0)), symbol);
    }
  }

  std::string row_text(std::size_t row, bool in_color) const {
    std::string text;
    for (std::size_t column = 0; column < columns_; ++column) {
      const auto& [character, style] = symbols_[row * columns_ + column];
      text += in_color && character != ' ' ? fmt::format("\x1b[{}m{}\x1b[0m", colors[style % color_count], character)
                                           : std::string(1, character);
    }
    return text;
  }

 private:
  static std::size_t index(double position, std::size_t size) {
    return static_cast<std::size_t>(std::clamp(position, 0.0, 1.0) * static_cast<double>(size - 1) + 0.5);
  }

  std::size_t columns_;
  std::vector<Symbol> symbols_;
  std::size_t rows_;
};

void draw(Grid& grid, const Series& series, const std::vector<double>& values, const Axis& x, const Axis& y) {
  const auto& places = series.x.front();
  const auto can_show = [&](std::size_t i) { return x.can_show(places[i]) && y.can_show(values[i]); };
  const Symbol symbol{symbols[series.style % symbols.size()], series.style};
  for (std::size_t i = 0; i < values.size() && !series.is_faint; ++i) {
    if (!can_show(i)) continue;
    const auto from = i > 0 && can_show(i - 1) ? i - 1 : i;
    grid.draw_line(x.position(places[from]), y.position(values[from]), x.position(places[i]), y.position(values[i]),
                   symbol);
  }
}

void mark(Grid& grid, const Series& series, const std::vector<double>& values, const Axis& x, const Axis& y) {
  const auto put = [&](std::size_t i, char character) {
    if (x.can_show(series.x.front()[i]) && y.can_show(values[i]))
      grid.put(grid.column(x.position(series.x.front()[i])), grid.row(y.position(values[i])), {character, series.style});
  };
  for (const auto restart : series.restarts) put(restart, '^');
  if (series.best) put(*series.best, '*');
}

std::string centered(const std::string& shown, std::size_t columns) {
  const auto plain = cut_to_width(plain_text(shown), columns);
  return std::string((columns - display_width(plain)) / 2, ' ') + plain + "\n";
}

/// Returns the lines of the legend, each at most `options.columns` wide.
std::string legend_of(const Chart& chart, const TextChartOptions& options, std::size_t max_rows) {
  std::string lines, line;
  std::size_t used = 0, entries = 0, rows = 0, omitted = 0;
  const auto add = [&](const std::string& shown, std::size_t width, bool must_fit) {
    if (used > 0 && used + width > options.columns) {
      if (must_fit && rows + 1 >= max_rows) return false;
      ++rows;
      lines += std::exchange(line, "") + "\n";
      used = 0;
    }
    line += shown;
    used += width;
    return true;
  };
  for (const auto& series : chart.series) {
    if (series.is_faint) continue;
    const auto label =
        cut_to_width(plain_text(legend_label(series)), options.columns - std::min<std::size_t>(options.columns, 6));
    const std::string symbol(1, symbols[series.style % symbols.size()]);
    const auto shown =
        options.in_color ? fmt::format("\x1b[{}m{}\x1b[0m", colors[series.style % color_count], symbol) : symbol;
    const bool has_room = omitted == 0 && entries < max_legend_entries;
    if (has_room && add("  " + shown + " " + label, 4 + display_width(label), true))
      ++entries;
    else
      ++omitted;
  }
  const auto more = fmt::format("  and {} more", omitted);
  if (omitted > 0) add(more, more.size(), false);
  return line.empty() ? lines : lines + line + "\n";
}

/// Returns the line with the labels of the x-axis. A label that would touch its left neighbor is left out.
std::string x_labels(const Axis& x, const Grid& grid, std::size_t left) {
  std::string line(left + grid.columns(), ' ');
  std::size_t free = 0;
  for (const auto& tick : x.ticks(std::clamp<std::size_t>(grid.columns() / 12, 3, 10))) {
    const auto center = left + grid.column(x.position(tick.value));
    const auto from =
        std::min(center - std::min(center, tick.label.size() / 2), line.size() - std::min(line.size(), tick.label.size()));
    if (from < free || tick.label.size() > line.size()) continue;
    line.replace(from, tick.label.size(), tick.label);
    free = from + tick.label.size() + 1;
  }
  return line + "\n";
}

}  // namespace

std::string text_chart(const Chart& chart, const TextChartOptions& options) {
  constexpr std::size_t min_rows = 4, min_columns = 10, other_rows = 4;
  const auto values = drawn_values(chart);
  const auto [x, y] = axes_of(chart, values, options.log_x, options.log_y);
  auto text = centered(chart.title, options.columns);
  if (!x.has_values() || !std::isfinite(x.position(1) + y.position(1)))
    return text + centered("no finite value to show", options.columns);
  const auto legend = legend_of(chart, options, std::max<std::size_t>(1, options.rows / 4));
  const auto used_rows = other_rows + static_cast<std::size_t>(std::ranges::count(legend, '\n'));
  const auto rows = std::max(min_rows, options.rows - std::min(options.rows, used_rows));
  const auto ticks = y.ticks(std::clamp<std::size_t>(rows / 4, 3, 8));
  std::size_t width = 0;
  for (const auto& tick : ticks) width = std::max(width, tick.label.size());
  Grid grid(std::max(min_columns, options.columns - std::min(options.columns, width + 2)), rows);
  for (std::size_t i = 0; i < chart.series.size(); ++i) draw(grid, chart.series[i], values[i], x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i) mark(grid, chart.series[i], values[i], x, y);
  std::vector<std::string> labels(rows);
  for (const auto& tick : ticks) labels[grid.row(y.position(tick.value))] = tick.label;
  for (std::size_t row = 0; row < rows; ++row)
    text += fmt::format("{:>{}} {}{}\n", labels[row], width, labels[row].empty() ? '|' : '+',
                        grid.row_text(row, options.in_color));
  text += fmt::format("{:>{}}+{}\n", "", width + 1, std::string(grid.columns(), '-'));
  return text + x_labels(x, grid, width + 2) + centered(chart.x_titles.front(), options.columns) + legend;
}

}  // namespace trainrt::view
