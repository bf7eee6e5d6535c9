#include "trainer/watching/save_cost_watch.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Contains;
using trainer::SaveCostWatch;
using Unit = config::CheckpointInterval::Unit;

TEST_CASE("saves that take more than a fifth of the time cause one warning with the figures and the key") {
  SaveCostWatch watch({Unit::steps, 5});
  CHECK_FALSE(watch.note_save(100, 10));
  CHECK_FALSE(watch.note_save(110, 20));  // before min_interval_s
  const auto text = watch.note_save(140, 40);
  REQUIRE(text);
  CHECK_THAT(*text, Contains("waited for 2 saves for 75 % of the last 40 s, 15.0 s per save") &&
                        Contains("set a longer checkpoint.every"));
  CHECK_FALSE(watch.note_save(200, 99));
}

TEST_CASE("saves that take less than a fifth of the time cause no warning") {
  SaveCostWatch watch({Unit::automatic, 0});
  CHECK_FALSE(watch.note_save(100, 90));
  CHECK_FALSE(watch.note_save(140, 97.9));
  const auto text = watch.note_save(180, 110);
  REQUIRE(text);
  CHECK_THAT(*text, Contains("call save() or report checkpoints less often") && !Contains("checkpoint.every"));
}
