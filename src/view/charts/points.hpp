#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trainrt::view {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// Returns at most `max_points` of the points, in their order. The first and the last point are kept. The points
/// between them are divided into groups of equal size; the lowest and the highest point of each group are kept. Returns
/// all points if `max_points` is less than 4. Pure function.
std::vector<Point> thinned(std::span<const Point> points, std::size_t max_points);

/// Returns the exponential moving averages of the values. `weight` is the weight of the previous average, at least 0
/// and below 1. The bias at the start is corrected as in Adam (Kingma and Ba, 2015, section 3). Pure function.
std::vector<double> smoothed(std::span<const double> values, double weight);

}  // namespace trainrt::view
