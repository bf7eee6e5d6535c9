#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace trainrt::view {

/// A line of a chart. Each point has one y value, and one x value for each x-axis of the chart.
struct Series {
  std::string name;
  std::vector<std::vector<double>> x;      ///< by x-axis, then by point; a point with a NaN is not drawn on that axis
  std::vector<double> y;                   ///< by point; a NaN interrupts the line
  std::size_t style = 0;                   ///< number of the color and line style; a run has the same number in all charts
  std::vector<std::size_t> restarts = {};  ///< indices of the points that are the first of a later attempt
  std::optional<std::size_t> best = std::nullopt;  ///< index of the best point
  std::size_t not_finite = 0;                      ///< number of NaN and infinite values that were left out
  bool is_faint = false;  ///< drawn faint and without an entry in the legend; used for values before smoothing
};

/// A chart with one line or area for each series. The picture of a chart with several x-axes shows the first x-axis;
/// the script of the page can switch to another x-axis.
struct Chart {
  std::string title;
  std::vector<std::string> x_titles;  ///< by x-axis
  std::vector<Series> series;
  bool is_stacked = false;  ///< each series is an area on top of the series before it
  bool has_legend = true;
  std::string note = {};  ///< a sentence shown below the chart of a page
};

/// The numbers of colors and line styles for series. After `color_count` series, the colors are used again with the
/// next line style.
constexpr std::size_t color_count = 8, line_style_count = 4;

/// Returns the y values at which each series is drawn: the series' own y values, or in a stacked chart, their sums with
/// the y values of all previous series. Pure function.
std::vector<std::vector<double>> drawn_values(const Chart& chart);

/// Returns the name of a series in a legend: "a", or "a (4 values not finite)". Pure function.
std::string legend_label(const Series& series);

/// Maximum number of series that are named in a legend. For all further series, the legend shows only their number.
constexpr std::size_t max_legend_entries = 12;

/// Returns the chart as JSON for the script of the page: {"title", "axes", "stacked", "series": [{"name", "x": [[...]],
/// "y": [...], "restarts": [...], "best"}]}. Numbers have at most nine significant digits. Pure function.
nlohmann::ordered_json as_json(const Chart& chart);

}  // namespace trainrt::view
