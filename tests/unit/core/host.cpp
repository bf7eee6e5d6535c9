#include "core/host.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;

TEST_CASE("seconds_between handles midnight, leap days and any time zone") {
  CHECK(seconds_between("2026-11-21T01:02:03Z", "2026-11-21T01:02:03Z") == 0);
  CHECK(seconds_between("2026-11-21T23:59:59Z", "2026-11-22T00:00:01Z") == 2);
  CHECK(seconds_between("2026-11-22T00:00:01Z", "2026-11-21T23:59:59Z") == -2);
  CHECK(seconds_between("2028-02-28T00:00:00Z", "2028-03-01T00:00:00Z") == 2 * 86400);
  for (const auto* text : {"", "yesterday", "2026-11-21", "2026-11-21T01:02:03", "2026-11-21T01:02:03Z "})
    CHECK_THROWS_AS(seconds_between(text, "2026-11-21T01:02:03Z"), Error);
}

TEST_CASE("utc_before is the given time before utc_now") {
  const auto ago = seconds_between(utc_before(3600), utc_now());
  CHECK(ago >= 3600);
  CHECK(ago <= 3660);
}
