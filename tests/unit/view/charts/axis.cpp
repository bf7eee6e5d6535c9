// Tests of the axes of charts: ticks and positions.
#include "view/charts/axis.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace trainrt::view;

namespace {

std::vector<double> ticks_of(double low, double high, bool is_logarithmic) {
  Axis axis(is_logarithmic);
  axis.include(low);
  axis.include(high);
  axis.pad(0);
  std::vector<double> values;
  for (const auto& tick : axis.ticks(5)) values.push_back(tick.value);
  return values;
}

}  // namespace

TEST_CASE("ticks are multiples of 1, 2 or 5 times a power of ten") {
  CHECK(tick_values(0, 1, 5) == std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1});
  CHECK(tick_values(1, 1, 5).empty());
}

TEST_CASE("an axis has at least three ticks in its range, for any range") {
  for (const bool is_logarithmic : {false, true})
    for (const auto& [low, high] :
         {std::pair(1.0, 2.0), {1.0, 1.0}, {0.3, 0.35}, {1e-9, 1e12}, {7.0, 80.0}, {123456.0, 123457.0}}) {
      INFO(low << " to " << high << (is_logarithmic ? ", logarithmic" : ""));
      CHECK(ticks_of(low, high, is_logarithmic).size() >= 3);
    }
  CHECK(ticks_of(0, 0, false).size() >= 3);
}

TEST_CASE("labels of ticks differ, also if the range is small compared with the values") {
  Axis axis(false);
  axis.include(10'000'000);
  axis.include(10'000'004);
  const auto ticks = axis.ticks(4);
  REQUIRE(ticks.size() >= 3);
  CHECK(ticks[0].label == "10000000");
  CHECK(ticks[1].label == "10000001");
}

TEST_CASE("a logarithmic axis shows positive values only, and its ticks are powers of ten") {
  Axis axis(true);
  for (const double value : {-1.0, 0.0, 0.01, 100.0, double{NAN}}) axis.include(value);
  CHECK((axis.can_show(1) && !axis.can_show(0) && !axis.can_show(INFINITY)));
  CHECK(axis.position(1) == Approx(0.5));
  CHECK(ticks_of(0.01, 100, true).size() == 5);
}
