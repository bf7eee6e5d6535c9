#include "trainer/watching/starvation_watch.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;
using trainer::StarvationWatch;

TEST_CASE("a dataset for which steps wait causes one warning with the slowest stage and advice") {
  data::WalkState walk;
  StarvationWatch watch;
  CHECK_FALSE(watch.check("train", walk, 100));
  walk.add_waited(9);
  walk.stages().add(data::Stage::storage, 6'000'000'000);
  walk.stages().add(data::Stage::decode, 18'000'000'000);
  CHECK_FALSE(watch.check("train", walk, 110));  // before min_interval_s
  const auto text = watch.check("train", walk, 130);
  REQUIRE(text);
  CHECK_THAT(*text, Contains("[data.train]") && Contains("30 % of the last 30 s") &&
                        Contains("decode 75 %, storage 25 %") && Contains("data.train.threads"));
  walk.add_waited(81);
  CHECK_FALSE(watch.check("train", walk, 200));
}

TEST_CASE("short waits and waits before the first check cause no warning") {
  data::WalkState walk;
  walk.add_waited(50);
  StarvationWatch watch;
  CHECK_FALSE(watch.check("train", walk, 100));
  walk.add_waited(3);
  CHECK_FALSE(watch.check("train", walk, 120));
  walk.add_waited(3.9);
  CHECK_FALSE(watch.check("train", walk, 140));
  walk.add_waited(5);
  CHECK(watch.check("train", walk, 160));
}
