#include "view/charts/chart.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/text/text.hpp"

namespace trainrt::view {

namespace {

using Json = nlohmann::ordered_json;

/// Returns a number for JSON: an integer, nine significant digits, or null if `value` is not finite. No screen can show
/// more than nine digits.
Json short_number(double value) {
  constexpr double max_integer = 1e15;
  if (!std::isfinite(value)) return nullptr;
  if (value == std::round(value) && std::abs(value) < max_integer) return static_cast<std::int64_t>(value);
  return std::stod(fmt::format("{:.9g}", value));
}

Json short_numbers(const std::vector<double>& values) {
  auto numbers = Json::array();
  for (const double value : values) numbers.push_back(short_number(value));
  return numbers;
}

}  // namespace

std::vector<std::vector<double>> drawn_values(const Chart& chart) {
  std::vector<std::vector<double>> values;
  for (const auto& series : chart.series) {
    values.push_back(series.y);
    if (!chart.is_stacked || values.size() < 2) continue;
    const auto& below = values[values.size() - 2];
    for (std::size_t i = 0; i < std::min(values.back().size(), below.size()); ++i) values.back()[i] += below[i];
  }
  return values;
}

std::string legend_label(const Series& series) {
  if (series.not_finite == 0) return series.name;
  return fmt::format("{} ({} not finite)", series.name, counted(static_cast<std::int64_t>(series.not_finite), "value"));
}

Json as_json(const Chart& chart) {
  auto all = Json::array();
  for (const auto& series : chart.series) {
    auto x = Json::array();
    for (const auto& values : series.x) x.push_back(short_numbers(values));
    all.push_back({{"name", series.name},
                   {"x", std::move(x)},
                   {"y", short_numbers(series.y)},
                   {"restarts", series.restarts},
                   {"best", series.best ? Json(*series.best) : Json()}});
  }
  return {{"title", chart.title}, {"axes", chart.x_titles}, {"stacked", chart.is_stacked}, {"series", std::move(all)}};
}

}  // namespace trainrt::view
