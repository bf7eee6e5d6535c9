// Tests of SaveSchedule, which decides when a checkpoint is due by the clock.
#include "trainer/saving/save_schedule.hpp"

#include <chrono>
#include <thread>

#include <catch2/catch.hpp>

#include "core/host.hpp"

using namespace trainrt;
using trainer::SaveSchedule;
using Unit = config::CheckpointInterval::Unit;

namespace {

struct Schedule {
  explicit Schedule(config::CheckpointInterval every) : schedule(every, {}, 1, meter) {}
  rundir::Meter meter{monotonic_seconds()};
  SaveSchedule schedule;
};

}  // namespace

TEST_CASE("an interval in seconds makes a checkpoint due that long after the last save began") {
  Schedule timed({.unit = Unit::seconds, .count = 0.2});
  CHECK_FALSE(timed.schedule.is_due(true, false));
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  CHECK(timed.schedule.is_due(false, true));
  timed.schedule.begin_save(true);
  CHECK_FALSE(timed.schedule.is_due(true, false));
}

TEST_CASE("an interval in steps or reports makes no checkpoint due by the clock") {
  for (const auto unit : {Unit::steps, Unit::reports, Unit::off})
    CHECK_FALSE(Schedule({.unit = unit, .count = 1}).schedule.is_due(true, false));
}

TEST_CASE("the automatic interval makes the first checkpoint due after a report, unless one is in flight") {
  Schedule automatic({.unit = Unit::automatic, .count = 0});
  CHECK_FALSE(automatic.schedule.is_due(false, false));
  CHECK(automatic.schedule.is_due(true, false));
  CHECK_FALSE(automatic.schedule.is_due(true, true));
}

TEST_CASE("the automatic interval is learned from typical saves only") {
  Schedule automatic({.unit = Unit::automatic, .count = 0});
  automatic.schedule.begin_save(false);
  automatic.schedule.learn();
  CHECK(automatic.schedule.is_due(true, false));
  automatic.schedule.begin_save(true);
  automatic.schedule.learn();
  CHECK_FALSE(automatic.schedule.is_due(true, false));
}
