#include <cmath>
#include <limits>
#include <numeric>

#include <catch2/catch.hpp>

#include "cli/checkpoints/tensor_statistics.hpp"

using namespace trainrt;
using namespace trainrt::cli;

namespace {

template <class T>
TensorStatistics statistics_of(DType dtype, const std::vector<T>& elements, std::size_t pieces = 1) {
  StatisticsGatherer gatherer(dtype);
  const std::span all(elements);
  const auto each = (elements.size() + pieces - 1) / pieces;
  for (std::size_t at = 0; at < elements.size(); at += each)
    gatherer.add(std::as_bytes(all.subspan(at, std::min(each, elements.size() - at))));
  return gatherer.result();
}

}  // namespace

TEST_CASE("statistics exclude and count values that are not finite, and do not depend on the pieces") {
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> few{1, -3, 0, nan, infinity, -0.0F, 4, -infinity};
  const auto found = statistics_of(DType::f32, few);
  CHECK(found.count == 8);
  CHECK(found.nan == 1);
  CHECK(found.infinite == 2);
  CHECK(found.zero == 2);
  CHECK(std::get<double>(*found.min) == -3);
  CHECK(std::get<double>(*found.max) == 4);
  CHECK(*found.mean == Approx(0.4));
  CHECK(*found.deviation == Approx(std::sqrt(26.0 / 5 - 0.16)));

  std::vector<double> far(100000);
  std::iota(far.begin(), far.end(), 1e9);
  for (const std::size_t pieces : {1, 3, 17}) {
    const auto one = statistics_of(DType::f64, far, pieces);
    CHECK(*one.mean == Approx(1e9 + 49999.5).epsilon(1e-15));
    CHECK(*one.deviation == Approx(std::sqrt((1e10 - 1) / 12)).epsilon(1e-12));
  }
}

TEST_CASE("statistics of integers are exact, and those without finite values are empty") {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  const auto found = statistics_of<std::int64_t>(DType::i64, {large, -large, 0});
  CHECK(std::get<std::int64_t>(*found.max) == large);
  CHECK(std::get<std::int64_t>(*found.min) == -large);
  CHECK(statistics_of<std::uint8_t>(DType::boolean, {1, 0, 1, 1}).mean == 0.75);
  CHECK(std::get<std::int64_t>(*statistics_of<std::uint8_t>(DType::u8, {250, 3}).max) == 250);
  CHECK(std::get<std::int64_t>(*statistics_of<std::int8_t>(DType::i8, {-128, 3}).min) == -128);
  CHECK(std::get<double>(*statistics_of<std::uint8_t>(DType::f8e4m3, {0x7e, 0xff}).max) == 448);
  const auto none = statistics_of<float>(DType::f32, {std::numeric_limits<float>::quiet_NaN()});
  CHECK_FALSE(none.min);
  CHECK_FALSE(none.mean);
  CHECK(statistics_of<float>(DType::f32, {}).count == 0);
}
