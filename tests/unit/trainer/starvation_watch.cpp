#include "trainer/starvation_watch.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;
using trainer::StarvationWatch;

TEST_CASE("a dataset that steps wait for is named once, with the stage that takes most and what helps") {
  DatasetImpl dataset;
  dataset.name = "train";
  StarvationWatch watch;
  CHECK_FALSE(watch.look(dataset, 100));
  dataset.waited_s = 9;
  dataset.stages.add(data::Stage::storage, 6'000'000'000);
  dataset.stages.add(data::Stage::decode, 18'000'000'000);
  CHECK_FALSE(watch.look(dataset, 110));  // too soon to tell
  const auto text = watch.look(dataset, 130);
  REQUIRE(text);
  CHECK_THAT(*text, Contains("[data.train]") && Contains("30 % of the last 30 s") &&
                        Contains("decode 75 %, storage 25 %") && Contains("data.train.threads"));
  dataset.waited_s = 90;
  CHECK_FALSE(watch.look(dataset, 200));
}

TEST_CASE("waiting that is past, or little, is not told of") {
  DatasetImpl dataset;
  dataset.waited_s = 50;
  StarvationWatch watch;
  CHECK_FALSE(watch.look(dataset, 100));
  dataset.waited_s += 3;
  CHECK_FALSE(watch.look(dataset, 120));
  dataset.waited_s += 3.9;
  CHECK_FALSE(watch.look(dataset, 140));
  dataset.waited_s += 5;
  CHECK(watch.look(dataset, 160));
}
