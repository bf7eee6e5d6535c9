#include "metrics/outputs/histogram.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::metrics;

namespace {

template <class T>
Histogram histogram(const std::vector<T>& values, DType dtype = dtype_of<T>::value) {
  return histogram_of(dtype, std::as_bytes(std::span(values)));
}

std::uint64_t total(const Histogram& found) {
  return std::accumulate(found.in_bucket.begin(), found.in_bucket.end(), std::uint64_t{0});
}

}  // namespace

TEST_CASE("there are 64 buckets of equal width, and a value on an edge belongs to the upper one") {
  std::vector<double> values;
  for (int i = 0; i <= 64; ++i) values.push_back(i);
  const auto found = histogram(values);
  REQUIRE(found.in_bucket.size() == 64);
  CHECK(found.upper_edges.front() == 1);
  CHECK(found.upper_edges.back() == 64);
  CHECK(found.in_bucket.front() == 1);
  CHECK(found.in_bucket[62] == 1);
  CHECK(found.in_bucket.back() == 2);
  CHECK(found.sum == 2080);
  CHECK(found.sum_of_squares == 89440);
}

TEST_CASE("each value is between the edges of its bucket in spite of rounding") {
  for (const double scale : {1e-300, 1e-9, 0.1, 1.0, 3.0, 1e9, 1e300}) {
    std::vector<double> values;
    for (int i = 0; i < 5000; ++i) values.push_back(scale * std::sin(i * i * 0.37));
    const auto found = histogram(values);
    std::vector<std::uint64_t> expected(64);
    for (const double value : values) {
      std::size_t bucket = 0;
      while (bucket < 63 && value >= found.upper_edges[bucket]) ++bucket;
      ++expected[bucket];
    }
    CHECK(found.in_bucket == expected);
    CHECK(found.upper_edges.back() == found.max);
  }
}

TEST_CASE("NaN and infinities are counted separately") {
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  const auto found = histogram(std::vector<float>{nan, 1, infinity, 3, -infinity, 2});
  CHECK(found.not_finite == 3);
  CHECK(found.count == 3);
  CHECK(total(found) == 3);
  CHECK(found.min == 1);
  CHECK(found.max == 3);
  CHECK(found.sum == 6);
  const auto none = histogram(std::vector<float>{nan, nan});
  CHECK(none.not_finite == 2);
  CHECK(none.count == 0);
  CHECK(none.in_bucket == std::vector<std::uint64_t>{0});
}

TEST_CASE("equal values, no values, and values without representable edges have one bucket") {
  constexpr double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  const std::vector<std::vector<double>> rows = {{}, {7}, {7, 7, 7}, {-most, most}, {0, least}};
  for (const auto& values : rows) {
    const auto found = histogram(values);
    REQUIRE(found.in_bucket.size() == 1);
    CHECK(found.in_bucket[0] == values.size());
    CHECK(found.upper_edges[0] == found.max);
  }
}

TEST_CASE("elements of all types are converted to their values") {
  CHECK(histogram(std::vector<std::int8_t>{-128, 127}).min == -128);
  CHECK(histogram(std::vector<std::uint8_t>{0, 255}).max == 255);
  CHECK(histogram(std::vector<std::int16_t>{-5, 6}).sum == 1);
  CHECK(histogram(std::vector<std::int32_t>{-5, 6}).sum == 1);
  CHECK(histogram(std::vector<std::int64_t>{-5, 6}).sum == 1);
  CHECK(histogram(std::vector<std::uint8_t>{0, 1, 7}, DType::boolean).sum == 2);
  CHECK(histogram(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7c01}, DType::f16).min == -2);
  CHECK(histogram(std::vector<std::uint16_t>{0x3c00, 0xc000, 0x7c01}, DType::f16).not_finite == 1);
  CHECK(histogram(std::vector<std::uint16_t>{0x3f80, 0xc000}, DType::bf16).max == 1);
  CHECK(histogram(std::vector<std::uint8_t>{0x38, 0x7f}, DType::f8e4m3).max == 1);
  CHECK(histogram(std::vector<std::uint8_t>{0x3c, 0x7c}, DType::f8e5m2).not_finite == 1);
}
