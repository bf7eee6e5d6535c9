#include <cmath>

#include "unit/data/support.hpp"

using namespace data_test;

TEST_CASE("synthetic data never changes, on any rank and machine") {
  const auto dataset = open({{"format", "synthetic"}});
  CHECK(dataset->source()->size() == 4096);
  CHECK(dataset->source()->fields()[0].sample_shape == Shape{8});
  CHECK(dataset->source()->fields()[1].sample_shape.empty());
  const auto x_bits = gathered<std::uint32_t>(*dataset, 0, {4095, 0});
  const auto y_bits = gathered<std::uint32_t>(*dataset, 1, {4095, 0});
  REQUIRE(x_bits.size() == 16);
  CHECK(x_bits[0] == 0x3d5748d7);
  CHECK(x_bits[15] == 0xbf6a51f4);
  CHECK(y_bits == std::vector<std::uint32_t>{0xbfb89db7, 0xbf54e17f});
}

TEST_CASE("synthetic targets are linear in the inputs up to the noise, which has the given deviation") {
  const auto clean = open({{"format", "synthetic"}, {"features", "1"}, {"noise", "0"}});
  const auto noisy = open({{"format", "synthetic"}, {"features", "1"}, {"noise", "0.5"}});
  std::vector<std::uint64_t> all(4096);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const auto x = gathered<float>(*clean, 0, all), y = gathered<float>(*clean, 1, all), z = gathered<float>(*noisy, 1, all);
  CHECK(x == gathered<float>(*noisy, 0, all));
  const double slope = y[0] / x[0];
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(y[i] == Approx(slope * x[i]).margin(1e-6));
    sum += z[i] - y[i];
    squares += (z[i] - y[i]) * (z[i] - y[i]);
  }
  CHECK(std::abs(sum / 4096) < 0.04);
  CHECK(std::sqrt(squares / 4096) == Approx(0.5).epsilon(0.05));
  CHECK(gathered<float>(*open({{"format", "synthetic"}, {"features", "1"}, {"seed", "2"}}), 0, {0}) !=
        gathered<float>(*clean, 0, {0}));
}

TEST_CASE("bad values of synthetic data are errors that name section, key and value") {
  both_say({{"format", "synthetic"}, {"samples", "0"}}, "samples in [data.train] is '0'", "from 1 to");
  both_say({{"format", "synthetic"}, {"features", "-3"}}, "features in [data.train] is '-3'", "from 1 to 16777216");
  both_say({{"format", "synthetic"}, {"noise", "nan"}}, "is 'nan'", "0 or more");
}
