#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace trainrt::view {

struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// Returns at most `max_points` of the points, in their order: the first, the last, and the lowest and highest of each of
/// equal parts in between. Returns all points if `max_points` is less than 4. Pure function.
std::vector<Point> thinned(std::span<const Point> points, std::size_t max_points);

/// Returns the exponential moving average of the values, in which the previous average has the weight `weight`, from 0 to
/// below 1. The bias at the start is corrected as in Adam (Kingma and Ba, 2015, section 3). Pure function.
std::vector<double> smoothed(std::span<const double> values, double weight);

}  // namespace trainrt::view
