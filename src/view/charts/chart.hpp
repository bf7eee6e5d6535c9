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
  std::size_t style = 0;                   ///< number of the color and line style: the same for a run in all charts
  std::vector<std::size_t> restarts = {};  ///< indices of the points that are the first of a later attempt
  std::optional<std::size_t> best = std::nullopt;  ///< index of the best point
  std::size_t not_finite = 0;                      ///< number of values that were left out as NaN or infinite
  bool is_faint = false;                           ///< drawn faint and not in the legend: the values before smoothing
};

/// Lines over a common x-axis. A chart with several x-axes is drawn over the first; the script of a page switches axes.
struct Chart {
  std::string title;
  std::vector<std::string> x_titles;  ///< by x-axis
  std::vector<Series> series;
  bool is_stacked = false;  ///< each series is an area on top of the series before it
  bool has_legend = true;
  std::string note = {};  ///< a sentence shown below the chart of a page
};

/// A chart has `color_count` colors; further series repeat the colors with another line style.
constexpr std::size_t color_count = 8, line_style_count = 4;

/// Returns by series the y values to draw: those of the series, in a stacked chart with those of all series before it
/// added. Pure function.
std::vector<std::vector<double>> drawn_values(const Chart& chart);

/// Returns the name of a series for a legend: "a", "a (4 values not finite)". Pure function.
std::string legend_label(const Series& series);

/// Maximum number of series that a legend names; it counts the others.
constexpr std::size_t max_legend_entries = 12;

/// Returns the chart as JSON for the script of a page: {"title", "axes", "stacked", "series": [{"name", "x": [[...]], "y":
/// [...], "restarts": [...], "best"}]}. Numbers have nine digits. Pure function.
nlohmann::ordered_json as_json(const Chart& chart);

}  // namespace trainrt::view
