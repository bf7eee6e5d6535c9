#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "view/page/markup.hpp"

namespace trainrt::view::page {

/// Points that are joined by a line. NaN as a y is a gap.
struct Series {
  std::string name;
  std::vector<std::vector<double>> places;  ///< for each axis of the chart, the x of each point; empty: no such axis
  std::vector<double> values;
  std::vector<std::size_t> restarts = {};  ///< points that are the first of an attempt
  std::optional<std::size_t> best = std::nullopt;
};

/// Lines over one of several x-axes, on which they are drawn by choice.
struct Chart {
  std::string title;
  std::vector<std::string> axes;  ///< "iteration", "seconds of training": the first is the one that is shown first
  std::vector<Series> series;
  bool is_stacked = false;  ///< one on top of the other: parts of a whole
  std::string note = {};    ///< what must be known to read it
};

/// A figure with a picture that stands by itself; a script may put a chart that can be zoomed in its place, drawn from
/// as_json(), by its number.
Markup figure_of(const Chart& chart, std::size_t number);

/// For the script: {"title", "axes", "stacked", "series": [{"name", "x": [[...]], "y": [...], "restarts": [...], "best"}]}.
nlohmann::ordered_json as_json(const Chart& chart);

/// Numbers for an axis from `low` to `high`, some `about` of them at steps of 1, 2 or 5 times a power of ten. Pure.
std::vector<double> ticks(double low, double high, int about);

}  // namespace trainrt::view::page
