#include "view/charts/svg_chart.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/text/display_width.hpp"
#include "view/charts/axis.hpp"
#include "view/charts/points.hpp"

namespace trainrt::view {

namespace {

constexpr double top_margin = 26, bottom_margin = 40, right_margin = 16, legend_row_height = 18,
                 character_width = 7.2;  // pixels, in a 12 pixel font
constexpr double min_area_height = 60;
constexpr std::size_t max_points = 300, min_points = 24, max_points_of_chart = 4000;
constexpr std::size_t max_legend_columns = 32;  // maximum width of a name in the legend, in characters
constexpr std::string_view restart_shape = "M0,-5L5,4L-5,4Z";
constexpr std::string_view dot_shape = "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0Z";
constexpr std::string_view best_shape = "M0,-7L2,-2L7,-2L3,1.5L4.5,6.5L0,3.5L-4.5,6.5L-3,1.5L-7,-2L-2,-2Z";

std::string classes(std::string_view kind, std::size_t style) {
  return fmt::format("{} c{} d{}", kind, style % color_count, style / color_count % line_style_count);
}

std::string number(double value) { return fmt::format("{:.1f}", value); }

/// Returns a <text> element. A text of more than `max_columns` characters is truncated; the pointer shows the complete
/// text.
Markup label(double x, double y, std::string_view anchor, const std::string& shown, std::size_t max_columns = 100,
             std::string_view kind = "label") {
  Markup content;
  const auto plain = plain_text(shown);
  if (display_width(plain) <= max_columns) {
    content = text(shown);
  } else {
    content = text(cut_to_width(plain, max_columns - 1) + "…");
    content += element("title", {}, shown);
  }
  return element("text",
                 {{"class", std::string(kind)}, {"x", number(x)}, {"y", number(y)}, {"text-anchor", std::string(anchor)}},
                 content);
}

// --- functions that lay out and draw the legend ---

struct LegendEntry {
  std::string label;
  const Series* series = nullptr;  ///< nullptr in the entry that shows the number of the other series
  double x = 0;
  std::size_t row = 0;
};

std::vector<LegendEntry> legend_entries(const Chart& chart, double width, std::size_t max_entries = max_legend_entries) {
  std::vector<LegendEntry> entries;
  if (!chart.has_legend) return entries;
  std::size_t further = 0;
  for (const auto& series : chart.series) {
    if (series.is_faint) continue;
    if (entries.size() < max_entries)
      entries.push_back({legend_label(series), &series});
    else
      ++further;
  }
  if (further > 0) entries.push_back({fmt::format("and {} more", further)});
  double x = 8;
  std::size_t row = 0;
  for (auto& entry : entries) {
    const auto columns = std::min(display_width(plain_text(entry.label)), max_legend_columns);
    const double needed = 26 + character_width * static_cast<double>(columns);
    if (x > 8 && x + needed > width - 8) {
      x = 8;
      ++row;
    }
    entry.x = x;
    entry.row = row;
    x += needed + 16;
  }
  return entries;
}

double height_of(const std::vector<LegendEntry>& entries) {
  return entries.empty() ? 0 : legend_row_height * static_cast<double>(entries.back().row + 1);
}

Markup legend_of(const std::vector<LegendEntry>& entries, double from) {
  Markup all;
  for (const auto& entry : entries) {
    const double y = from + legend_row_height * static_cast<double>(entry.row) + 10;
    if (entry.series != nullptr)
      all += element("path", {{"class", classes("line", entry.series->style)},
                              {"d", fmt::format("M{},{}h20", number(entry.x), number(y - 4))}});
    all += label(entry.x + 26, y, "start", entry.label, max_legend_columns);
  }
  return all;
}

// --- functions that draw the plot area ---

struct Area {
  double left, width, height;
};

/// Maps the values of a chart to positions in its plot area, in pixels from the top left corner of the plot area.
struct Plot {
  Axis x, y;
  Area area;
  double across(double value) const { return x.position(value) * area.width; }
  double down(double value) const { return (1 - y.position(value)) * area.height; }
};

/// Returns the line of a series as segments; a value that cannot be shown ends a segment. Points are positions in the
/// plot area. The line is thinned to about `max` points.
std::vector<std::vector<Point>> drawn_parts(const Series& series, const std::vector<double>& values, const Plot& plot,
                                            std::size_t max) {
  std::vector<std::vector<Point>> parts(1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = series.x.front()[i];
    if (plot.x.can_show(x) && plot.y.can_show(values[i]))
      parts.back().push_back({plot.across(x), plot.down(values[i])});
    else if (!parts.back().empty())
      parts.emplace_back();
  }
  for (auto& part : parts)
    if (!part.empty()) part = thinned(part, std::max<std::size_t>(4, max * part.size() / values.size()));
  return parts;
}

std::string line_path(const std::vector<std::vector<Point>>& parts) {
  std::string path;
  for (const auto& part : parts) {
    for (std::size_t i = 0; i < part.size(); ++i)
      path += fmt::format("{}{:.1f},{:.1f}", i == 0 ? 'M' : 'L', part[i].x, part[i].y);
    if (part.size() == 1) path += "h0.1";  // a segment of one point is visible because line ends are round
  }
  return path;
}

/// Returns the area between a line and the x-axis. In a stacked chart, each area covers the lower part of the area
/// drawn before it.
std::string area_path(const std::vector<std::vector<Point>>& parts, double height) {
  std::string path;
  for (const auto& part : parts) {
    if (part.empty()) continue;
    path += line_path({part}) + fmt::format("V{:.1f}H{:.1f}Z", height, part.front().x);
  }
  return path;
}

Markup lines_of(const Chart& chart, const std::vector<std::vector<double>>& values, const Plot& plot) {
  const auto max = std::clamp(max_points_of_chart / chart.series.size(), min_points, max_points);
  Markup lines;
  for (std::size_t n = 0; n < chart.series.size(); ++n) {
    const auto i = chart.is_stacked ? chart.series.size() - 1 - n : n;  // a stacked chart draws its tallest area first
    const auto& series = chart.series[i];
    const auto parts = drawn_parts(series, values[i], plot, max);
    const auto* kind = chart.is_stacked ? "filled" : series.is_faint ? "line faint" : "line";
    lines += element("path",
                     {{"class", classes(kind, series.style)},
                      {"data-series", std::to_string(i)},
                      {"d", chart.is_stacked ? area_path(parts, plot.area.height) : line_path(parts)}},
                     element("title", {}, series.name));
  }
  // A nested <svg> clips the lines to the plot area after the user has zoomed in.
  return element("svg",
                 {{"class", "area"},
                  {"x", number(plot.area.left)},
                  {"y", number(top_margin)},
                  {"width", number(plot.area.width)},
                  {"height", number(plot.area.height)}},
                 lines);
}

Markup marks_of(const Chart& chart, const std::vector<std::vector<double>>& values, const Plot& plot) {
  Markup marks;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const auto& series = chart.series[i];
    const auto add = [&](std::size_t point, std::string_view path, std::string_view meaning) {
      const double x = series.x.front()[point], y = values[i][point];
      if (!plot.x.can_show(x) || !plot.y.can_show(y)) return;
      marks += element("path",
                       {{"class", classes("mark", series.style)},
                        {"data-series", std::to_string(i)},
                        {"data-point", std::to_string(point)},
                        {"d", std::string(path)},
                        {"transform", fmt::format("translate({:.1f},{:.1f})", plot.area.left + plot.across(x),
                                                  top_margin + plot.down(y))}},
                       element("title", {}, meaning));
    };
    if (!chart.is_stacked && series.y.size() == 1 && series.best != 0) add(0, dot_shape, series.name);
    for (const auto restart : series.restarts) add(restart, restart_shape, "restart");
    if (series.best) add(*series.best, best_shape, "best report");
  }
  return element("g", {{"class", "marks"}}, marks);
}

Markup x_labels(const Plot& plot, double y) {
  Markup labels;
  for (const auto& tick : plot.x.ticks(static_cast<std::size_t>(std::clamp(plot.area.width / 90, 3.0, 10.0))))
    labels += label(plot.area.left + plot.across(tick.value), y, "middle", tick.label);
  return element("g", {{"class", "x-labels"}}, labels);
}

Markup y_labels(const Plot& plot, const std::vector<Tick>& ticks) {
  Markup labels;
  std::string grid;
  for (const auto& tick : ticks) {
    const double y = top_margin + plot.down(tick.value);
    grid += fmt::format("M{:.1f},{:.1f}h{:.1f}", plot.area.left, y, plot.area.width);
    labels += label(plot.area.left - 6, y + 4, "end", tick.label);
  }
  auto all = element("path", {{"class", "grid"}, {"d", grid}});
  all += element("g", {{"class", "y-labels"}}, labels);
  return all;
}

Markup plot_of(const Chart& chart, const SvgOptions& options, double height) {
  const auto values = drawn_values(chart);
  auto [x, y] = axes_of(chart, values, options.log_x, options.log_y);
  if (!x.has_values() || !std::isfinite(x.position(1) + y.position(1))) {
    const auto* reason = options.log_x || options.log_y ? "no finite value above 0" : "no finite value";
    return label(options.width / 2, top_margin + height / 2, "middle", reason);
  }
  const auto ticks = y.ticks(static_cast<std::size_t>(std::clamp(height / 45, 3.0, 10.0)));
  double left = 44;
  for (const auto& tick : ticks) left = std::max(left, 14 + character_width * static_cast<double>(tick.label.size()));
  const Plot plot{x, y, {left, options.width - right_margin - left, height}};
  auto all = y_labels(plot, ticks);
  all += x_labels(plot, top_margin + height + 16);
  all += label(left + plot.area.width / 2, top_margin + height + 33, "middle", chart.x_titles.front(), 60, "x-title");
  all += lines_of(chart, values, plot);
  all += element("path", {{"class", "axes"},
                          {"d", fmt::format("M{:.1f},{}v{:.1f}h{:.1f}", left, top_margin, height, plot.area.width)}});
  all += marks_of(chart, values, plot);
  return all;
}

}  // namespace

double legend_height(const Chart& chart, double width) { return height_of(legend_entries(chart, width)); }

Markup svg_chart(const Chart& chart, const SvgOptions& options) {
  auto entries = legend_entries(chart, options.width);
  const double height_and_legend = options.height - top_margin - bottom_margin;
  for (auto max = max_legend_entries; max > 0 && height_and_legend - height_of(entries) < min_area_height;)
    entries = legend_entries(chart, options.width, --max);
  const double height = height_and_legend - height_of(entries);
  const auto max_columns = static_cast<std::size_t>((options.width - 16) / (character_width + 1));
  auto content = label(options.width / 2, 16, "middle", chart.title, max_columns, "title");
  content += plot_of(chart, options, height);
  content += legend_of(entries, top_margin + height + bottom_margin);
  return element("svg",
                 {{"class", "chart-svg"},
                  {"x", number(options.x)},
                  {"y", number(options.y)},
                  {"width", number(options.width)},
                  {"height", number(options.height)},
                  {"viewBox", fmt::format("0 0 {} {}", options.width, options.height)},
                  {"role", "img"},
                  {"aria-label", chart.title}},
                 content);
}

}  // namespace trainrt::view
