// Tests of how the points of a curve are thinned and smoothed.
#include "view/charts/points.hpp"

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

using namespace trainrt::view;

TEST_CASE("thinning keeps the extreme values, the ends and the order") {
  std::vector<Point> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({static_cast<double>(i), std::sin(i / 7000.0)});
  points[31'234].y = 50;
  points[77'777].y = -50;
  const auto kept = thinned(points, 1000);
  CHECK(kept.size() <= 1000);
  CHECK(std::ranges::count(kept, Point{31'234, 50}) == 1);
  CHECK(std::ranges::count(kept, Point{77'777, -50}) == 1);
  CHECK((kept.front() == points.front() && kept.back() == points.back()));
  CHECK(std::ranges::is_sorted(kept, {}, &Point::x));
  CHECK(thinned(points, 200'000).size() == points.size());
}

TEST_CASE("the moving average begins at the first value, and the previous average has the weight") {
  const auto averages = smoothed(std::vector<double>{8, 4, 4}, 0.5);
  CHECK(averages[0] == 8);
  CHECK(averages[1] == Approx((0.5 * 8 * 0.5 + 0.5 * 4) / 0.75));
  CHECK(averages[2] == Approx((0.125 * 8 + 0.25 * 4 + 0.5 * 4) / 0.875));
  CHECK(smoothed(std::vector<double>{3, 5}, 0)[1] == 5);
}
