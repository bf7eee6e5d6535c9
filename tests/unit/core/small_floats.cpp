#include "core/small_floats.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("small floats have the values of their specifications") {
  CHECK(from_f16(0x3c00) == 1);
  CHECK(from_f16(0xc000) == -2);
  CHECK(from_f16(0x7bff) == 65504);
  CHECK(from_f16(0x0001) == std::ldexp(1.0F, -24));
  CHECK(from_f16(0x03ff) == std::ldexp(1023.0F, -24));
  CHECK(std::signbit(from_f16(0x8000)));
  CHECK(from_f16(0xfc00) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_f16(0x7c01)));
  CHECK(from_bf16(0x3f80) == 1);
  CHECK(from_bf16(0xff80) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_bf16(0x7fc0)));
  // values of table 1 of the specification OCP OFP8
  CHECK(from_f8e4m3(0x38) == 1);
  CHECK(from_f8e4m3(0x7e) == 448);
  CHECK(from_f8e4m3(0x01) == std::ldexp(1.0F, -9));
  CHECK(from_f8e4m3(0x08) == std::ldexp(1.0F, -6));
  CHECK(from_f8e4m3(0x78) == 256);
  CHECK(std::isnan(from_f8e4m3(0x7f)));
  CHECK(std::isnan(from_f8e4m3(0xff)));
  CHECK(from_f8e5m2(0x3c) == 1);
  CHECK(from_f8e5m2(0x7b) == 57344);
  CHECK(from_f8e5m2(0x01) == std::ldexp(1.0F, -16));
  CHECK(from_f8e5m2(0xfc) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(from_f8e5m2(0x7d)));
}
