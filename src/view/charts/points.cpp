#include "view/charts/points.hpp"

#include <algorithm>

namespace trainrt::view {

std::vector<Point> thinned(std::span<const Point> points, std::size_t max_points) {
  if (points.size() <= max_points || max_points < 4) return {points.begin(), points.end()};
  std::vector<Point> kept;
  const auto parts = (max_points - 2) / 2;
  kept.push_back(points.front());
  const auto inner = points.subspan(1, points.size() - 2);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto from = inner.size() * i / parts, to = inner.size() * (i + 1) / parts;
    const auto [lowest, highest] = std::ranges::minmax_element(inner.subspan(from, to - from), {}, &Point::y);
    kept.push_back(std::min(lowest, highest)[0]);
    if (lowest != highest) kept.push_back(std::max(lowest, highest)[0]);
  }
  kept.push_back(points.back());
  return kept;
}

std::vector<double> smoothed(std::span<const double> values, double weight) {
  std::vector<double> averages;
  double average = 0, bias = 1;
  for (const double value : values) {
    average = weight * average + (1 - weight) * value;
    bias *= weight;
    averages.push_back(average / (1 - bias));
  }
  return averages;
}

}  // namespace trainrt::view
