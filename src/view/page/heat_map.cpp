#include "view/page/heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "view/page/number_texts.hpp"

namespace trainrt::view::page {

namespace {

using Json = nlohmann::ordered_json;

/// A color of the heat map. A cell has the first color with a `limit` above the cell's ratio to the median.
struct Shade {
  float limit;
  std::string_view meaning;
};
constexpr std::array<Shade, 7> shades = {{{0.95F, "faster"},
                                          {1.05F, "median"},
                                          {1.1F, "5 % slower"},
                                          {1.2F, "10 % slower"},
                                          {1.5F, "20 % slower"},
                                          {2.0F, "50 % slower"},
                                          {INFINITY, "twice as slow"}}};

std::size_t shade_of(float ratio) {
  const auto found = std::ranges::find_if(shades, [&](const Shade& shade) { return ratio < shade.limit; });
  return std::min<std::size_t>(static_cast<std::size_t>(found - shades.begin()), shades.size() - 1);
}

/// Returns, for each interval, the time with which the times of the ranks are compared.
std::vector<float> reference_of(const RankTimes& times) {
  if (times.ranks > 1) return times.median_us;
  return std::vector<float>(times.median_us.size(), median_of(times.median_us));
}

/// Returns an SVG path for each shade. The path has horizontal lines one unit high; neighboring cells of the same shade
/// form one line.
std::array<std::string, shades.size()> paths_of(const RankTimes& times) {
  std::array<std::string, shades.size()> paths;
  const auto reference = reference_of(times);
  for (std::size_t row = 0; row < times.rows.size(); ++row) {
    const auto& own = times.rows[row].own_us;
    for (std::size_t from = 0; from < own.size();) {
      auto to = from + 1;
      const float ratio = own[from] / reference[from];
      if (std::isfinite(ratio)) {
        while (to < own.size() && std::isfinite(own[to] / reference[to]) &&
               shade_of(own[to] / reference[to]) == shade_of(ratio))
          ++to;
        paths[shade_of(ratio)] += fmt::format("M{},{}.5h{}", from, row, to - from);
      }
      from = to;
    }
  }
  return paths;
}

/// Returns the SVG path of the lines that separate attempts.
std::string borders_of(const RankTimes& times) {
  std::string path;
  for (std::size_t i = 1; i < times.intervals.size(); ++i)
    if (times.intervals[i].front().attempt != times.intervals[i - 1].front().attempt)
      path += fmt::format("M{},0v{}", i, times.rows.size());
  return path;
}

Markup cells_of(const RankTimes& times) {
  Markup content;
  const auto paths = paths_of(times);
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) content += element("path", {{"class", fmt::format("shade s{}", i)}, {"d", paths[i]}});
  if (const auto borders = borders_of(times); !borders.empty())
    content += element("path", {{"class", "border"}, {"d", borders}});
  return element("svg",
                 {{"viewBox", fmt::format("0 0 {} {}", times.intervals.size(), times.rows.size())},
                  {"preserveAspectRatio", "none"},
                  {"role", "img"},
                  {"aria-label", "step time by rank and time"},
                  {"height", std::to_string(14 * times.rows.size())}},
                 content);
}

Markup scale() {
  Markup items;
  for (std::size_t i = 0; i < shades.size(); ++i)
    items += element("li", {{"class", fmt::format("s{}", i)}}, shades[i].meaning);
  return element("ul", {{"class", "scale"}}, items);
}

std::string column_text(const Interval& interval) {
  const auto& first = interval.front();
  const auto from = first.step - static_cast<std::int64_t>(first.steps) + 1;
  return fmt::format("attempt {}, steps {} to {}{}", first.attempt, from, interval.back().step,
                     first.time.empty() ? "" : ", " + first.time);
}

}  // namespace

Markup heat_map_of(const RankTimes& times) {
  Markup names;
  for (const auto& row : times.rows) names += element("li", {}, name_of(row));
  auto map = element("ol", {{"class", "rows"}}, names);
  map += element("div", {{"class", "cells"}, {"tabindex", "0"}, {"id", "heat-cells"}}, cells_of(times));
  auto ends = element("span", {}, column_text(times.intervals.front()));
  ends += element("span", {}, column_text(times.intervals.back()));
  map += element("div", {{"class", "ends"}}, ends);
  auto content = element("figcaption", {},
                         times.ranks > 1 ? "Step time by rank and time, compared with the median rank at that time"
                                         : "Step time over time, compared with its median");
  content += scale();
  content += element("div", {{"class", "heat"}}, map);
  content += element("p", {{"class", "readout"}, {"id", "heat-readout"}, {"aria-live", "polite"}}, "\u00a0");
  return element("figure", {{"class", "wide"}, {"id", "heat"}}, content);
}

Json heat_map_json(const RankTimes& times) {
  const auto rounded = [](const std::vector<float>& values) {
    auto all = Json::array();
    for (const float value : values) all.push_back(std::isfinite(value) ? Json(std::llround(value)) : Json());
    return all;
  };
  Json rows = Json::array(), columns = Json::array(), own = Json::array();
  for (const auto& row : times.rows) {
    rows.push_back(name_of(row));
    own.push_back(rounded(row.own_us));
  }
  for (const auto& interval : times.intervals) columns.push_back(column_text(interval));
  return {{"rows", rows}, {"columns", columns}, {"own", own}, {"median", rounded(reference_of(times))}};
}

}  // namespace trainrt::view::page
