#include "view/page/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "view/curves/curves.hpp"
#include "view/page/figures.hpp"

namespace trainrt::view::page {

namespace {

using Json = nlohmann::ordered_json;

constexpr double width = 640, height = 240, left = 64, right = 12, top = 10, bottom = 30;
constexpr std::size_t most_drawn = 300, least_drawn = 24, all_drawn = 4000;  // points of a series, and of all
constexpr std::size_t colors = 8;

struct Range {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void take(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
  /// Never of no width, and a little wider than its values.
  Range padded(double share) const {
    const double pad = high > low ? share * (high - low) : std::max(std::abs(high) * 0.1, 1e-9);
    return {low - pad, high + pad};
  }
};

/// Where numbers lie in the picture.
struct Place {
  Range x, y;
  double across(double value) const { return left + (value - x.low) / (x.high - x.low) * (width - left - right); }
  double up(double value) const { return height - bottom - (value - y.low) / (y.high - y.low) * (height - top - bottom); }
};

/// The lines in order from the bottom; of a stacked chart each on top of those before.
std::vector<std::vector<double>> heights_of(const Chart& chart) {
  std::vector<std::vector<double>> heights;
  for (const auto& series : chart.series) {
    heights.push_back(series.values);
    if (!chart.is_stacked || heights.size() < 2) continue;
    const auto& below = heights[heights.size() - 2];
    for (std::size_t i = 0; i < heights.back().size() && i < below.size(); ++i) heights.back()[i] += below[i];
  }
  return heights;
}

Place place_of(const Chart& chart, const std::vector<std::vector<double>>& heights) {
  Range x, y;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& places = chart.series[i].places.front();
    for (std::size_t j = 0; j < places.size(); ++j)
      if (std::isfinite(heights[i][j])) {
        x.take(places[j]);
        y.take(heights[i][j]);
      }
  }
  if (chart.is_stacked) y.take(0);
  return {x.padded(0), y.padded(0.04)};
}

/// "M1,2L3,4": the finite values, no more of them than can be seen, with the lowest and highest of each stretch.
std::string path_of(const Series& series, const std::vector<double>& heights, const Place& place, std::size_t most) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < heights.size(); ++i)
    if (std::isfinite(heights[i]) && std::isfinite(series.places.front()[i]))
      points.push_back({series.places.front()[i], heights[i]});
  std::string path;
  for (const auto& point : thinned(points, most))
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? 'M' : 'L', place.across(point.x), place.up(point.y));
  return points.size() == 1 ? path + "h0.1" : path;  // a single point is seen by its round end
}

Markup label(double x, double y, std::string_view anchor, const std::string& shown) {
  return element("text",
                 {{"x", fmt::format("{:.1f}", x)}, {"y", fmt::format("{:.1f}", y)}, {"text-anchor", std::string(anchor)}},
                 shown);
}

Markup grid_of(const Chart& chart, const Place& place) {
  Markup grid;
  std::string lines;
  for (const double tick : ticks(place.y.low, place.y.high, 5)) {
    lines += fmt::format("M{:.1f},{:.1f}H{:.1f}", left, place.up(tick), width - right);
    grid += label(left - 6, place.up(tick) + 4, "end", number_text(tick));
  }
  for (const double tick : ticks(place.x.low, place.x.high, 6))
    grid += label(std::clamp(place.across(tick), left, width - 24), height - 14, "middle", number_text(tick));
  grid += label(width - right, height - 1, "end", chart.axes.front());
  auto all = element("path", {{"class", "grid"}, {"d", lines}});
  all += grid;
  return all;
}

Markup marks_of(const Chart& chart, const std::vector<std::vector<double>>& heights, const Place& place) {
  Markup marks;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& series = chart.series[i];
    for (const auto restart : series.restarts)
      marks +=
          element("path",
                  {{"class", "restart"},
                   {"d", fmt::format("M{:.1f},{}V{}", place.across(series.places.front()[restart]), top, height - bottom)}},
                  element("title", {}, "restart"));
    if (series.best)
      marks += element("circle",
                       {{"class", "best"},
                        {"cx", fmt::format("{:.1f}", place.across(series.places.front()[*series.best]))},
                        {"cy", fmt::format("{:.1f}", place.up(heights[i][*series.best]))},
                        {"r", "5"}},
                       element("title", {}, "best report"));
  }
  return marks;
}

Markup picture_of(const Chart& chart) {
  const auto heights = heights_of(chart);
  const auto place = place_of(chart, heights);
  if (place.y.empty() || !std::isfinite(place.y.low)) return element("p", {{"class", "note"}}, "No value is finite.");
  auto content = element("title", {}, chart.title);
  content += grid_of(chart, place);
  const auto most = std::clamp(all_drawn / chart.series.size(), least_drawn, most_drawn);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    content += element(
        "path", {{"class", fmt::format("line c{}", i % colors)}, {"d", path_of(chart.series[i], heights[i], place, most)}},
        element("title", {}, chart.series[i].name));
  content += marks_of(chart, heights, place);
  return element("svg", {{"viewBox", fmt::format("0 0 {} {}", width, height)}, {"role", "img"}}, content);
}

Markup legend_of(const Chart& chart) {
  constexpr std::size_t most_named = 12;
  Markup items;
  for (std::size_t i = 0; i < chart.series.size() && i < most_named; ++i)
    items += element("li", {{"class", fmt::format("c{}", i % colors)}}, chart.series[i].name);
  if (chart.series.size() > most_named)
    items += element("li", {}, fmt::format("and {} more", chart.series.size() - most_named));
  return element("ul", {{"class", "legend"}}, items);
}

/// Nine digits: more than can be seen at any zoom, and half the size of all.
Json number_json(double value) {
  constexpr double most_whole = 1e15;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::round(value) && std::abs(value) < most_whole) return static_cast<std::int64_t>(value);
  return std::stod(fmt::format("{:.9g}", value));
}

Json numbers(const std::vector<double>& values) {
  auto all = Json::array();
  for (const double value : values) all.push_back(number_json(value));
  return all;
}

}  // namespace

std::vector<double> ticks(double low, double high, int about) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(high > low)) return {};
  const double rough = (high - low) / about, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = (rough / power < 1.5 ? 1 : rough / power < 3.5 ? 2 : rough / power < 7.5 ? 5 : 10) * power;
  std::vector<double> found;
  for (auto i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step && found.size() < 20; ++i)
    found.push_back(i * step + 0.0);  // no -0
  return found;
}

Markup figure_of(const Chart& chart, std::size_t number) {
  auto content = element("figcaption", {}, chart.title);
  content += element("div", {{"class", "chart"}}, chart.series.empty() ? Markup() : picture_of(chart));
  if (chart.series.size() > 1) content += legend_of(chart);
  if (!chart.note.empty()) content += element("p", {{"class", "note"}}, chart.note);
  return element("figure", {{"data-chart", std::to_string(number)}}, content);
}

Json as_json(const Chart& chart) {
  auto all = Json::array();
  for (const auto& series : chart.series) {
    auto places = Json::array();
    for (const auto& axis : series.places) places.push_back(numbers(axis));
    all.push_back({{"name", series.name},
                   {"x", std::move(places)},
                   {"y", numbers(series.values)},
                   {"restarts", series.restarts},
                   {"best", series.best ? Json(*series.best) : Json()}});
  }
  return {{"title", chart.title}, {"axes", chart.axes}, {"stacked", chart.is_stacked}, {"series", std::move(all)}};
}

}  // namespace trainrt::view::page
