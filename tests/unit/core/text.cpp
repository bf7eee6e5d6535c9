#include "core/text.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;

TEST_CASE("seconds are shown as hours, minutes and seconds") {
  CHECK(clock_text(0) == "0:00:00");
  CHECK(clock_text(3723.4) == "1:02:03");
  CHECK(clock_text(59.6) == "0:01:00");
  CHECK(clock_text(26 * 3600) == "26:00:00");
  CHECK(clock_text(-1) == "0:00:00");
}

TEST_CASE("one of a thing has no s") {
  CHECK(counted(0, "step") == "0 steps");
  CHECK(counted(1, "step") == "1 step");
  CHECK(counted(2, "step") == "2 steps");
}
