#include "trainer/saving/auto_interval.hpp"

#include <cmath>

#include <catch2/catch.hpp>

#include "rundir/records/attempt_record.hpp"

using namespace trainrt::trainer;
using Catch::Matchers::Contains;
using trainrt::rundir::AttemptRecord;

namespace {

/// Returns the share of time that saves and repeated work take with this interval and random failures: Daly's complete
/// model (2006, eq. 20) without the time of a restart.
double wasted(double interval_s, double cost_s, double mtbf_s) {
  return mtbf_s * std::expm1((interval_s + cost_s) / mtbf_s) / interval_s - 1;
}

AttemptRecord ended(int exit_code, double seconds) {
  AttemptRecord record;
  record.start = record.end = "2026-11-21T12:00:00Z";
  record.exit_code = exit_code;
  record.timing.steps_s = seconds;
  return record;
}

}  // namespace

TEST_CASE("young_daly_interval() returns the interval of Daly's formula") {
  struct Row {
    double cost_s, mtbf_s, interval_s;
  };
  const std::vector<Row> table = {
      {2, 100, 18.6889},         // sqrt(400) (1 + 0.1 / 3 + 0.01 / 9) - 2
      {50, 2500, 467.2222},      // sqrt(250000) (1 + 0.1 / 3 + 0.01 / 9) - 50
      {1, 11 * 3600, 280.7587},  // Young alone: 281.4249
      {200, 100, 100},           // saves cost twice the mean time between failures
      {500, 100, 100},
  };
  for (const auto& row : table) {
    INFO("C = " << row.cost_s << " s, M = " << row.mtbf_s << " s");
    CHECK(young_daly_interval(row.cost_s, row.mtbf_s) == Approx(row.interval_s).epsilon(1e-6));
  }
}

TEST_CASE("no other interval wastes noticeably less time") {
  for (const double cost_s : {0.1, 1.0, 30.0, 600.0})
    for (const double mtbf_s : {3600.0, 86400.0, 1e6}) {
      if (cost_s > mtbf_s / 2) continue;
      INFO("C = " << cost_s << " s, M = " << mtbf_s << " s");
      const double best = young_daly_interval(cost_s, mtbf_s);
      for (const double factor : {0.25, 0.5, 0.8, 1.25, 2.0, 4.0})
        CHECK(wasted(best, cost_s, mtbf_s) <= wasted(best * factor, cost_s, mtbf_s) * 1.001);
    }
}

TEST_CASE("kills and failures count as failures, stops and invalid configs do not, and the time of all attempts counts") {
  const std::vector<AttemptRecord> attempts = {ended(0, 10),  ended(75, 20), ended(64, 30),
                                               ended(70, 40), ended(-1, 50), ended(137, 60)};
  const auto history = history_of(attempts);
  CHECK(history.failures == 3);
  CHECK(history.exposure_s == Approx(210));
  AttemptRecord running;
  running.timing.steps_s = 1000;
  CHECK(history_of(std::vector{running}).exposure_s == 0);
}

TEST_CASE("the expected time between failures is 14 days per node at first, and soon that of the history") {
  constexpr double day_s = 86400;
  CHECK(expected_mtbf_s({}, 1) == Approx(14 * day_s));
  CHECK(expected_mtbf_s({}, 100) == Approx(0.14 * day_s));
  CHECK(expected_mtbf_s({9 * day_s, 9}, 100) == Approx(0.914 * day_s));
  CHECK(expected_mtbf_s({30 * day_s, 0}, 1000) > 30 * day_s);
}

TEST_CASE("the first checkpoint is due after the first report or a minute of steps") {
  const AutoInterval interval({}, 1);
  CHECK_FALSE(interval.is_due(0, false));
  CHECK_FALSE(interval.is_due(59, false));
  CHECK(interval.is_due(60, false));
  CHECK(interval.is_due(0, true));
}

TEST_CASE("the cost of saves determines the interval, within its bounds") {
  AutoInterval interval({}, 100);  // M = 12096 s
  CHECK_THAT(interval.learn(1.5, 2, 0).value_or(""), Contains("a save stops the training for 1.5 s"));
  CHECK(interval.interval_s() == Approx(young_daly_interval(1.5, 12096)));
  CHECK_FALSE(interval.is_due(interval.interval_s() - 1, true));
  CHECK(interval.is_due(interval.interval_s(), true));

  SECTION("a small change is not logged") { CHECK_FALSE(interval.learn(1.5, 2, 600)); }
  SECTION("a large change of the cost changes the interval, and is logged") {
    CHECK(interval.learn(20, 20, 600));
    CHECK(interval.interval_s() > 2 * young_daly_interval(1.5, 12096));
  }
  SECTION("the interval is at least the duration of a save") {
    interval.learn(0.01, 900, 600);
    CHECK(interval.interval_s() == Approx(900));
  }
  SECTION("the interval is at least 10 s") {
    for (int i = 0; i < 30; ++i) interval.learn(0, 0.1, 0);
    CHECK(interval.interval_s() == 10);
  }
  SECTION("the interval is at most an hour, unless a save takes longer") {
    for (int i = 0; i < 30; ++i) interval.learn(7000, 100, 0);
    CHECK(interval.interval_s() == 3600);
    interval.learn(7000, 5000, 0);
    CHECK(interval.interval_s() == 5000);
  }
}

TEST_CASE("a run that fails often saves more often") {
  AutoInterval calm({.exposure_s = 1e6, .failures = 0}, 1), stormy({.exposure_s = 1e6, .failures = 500}, 1);
  calm.learn(1, 1, 0);
  stormy.learn(1, 1, 0);
  CHECK(stormy.interval_s() < calm.interval_s() / 10);
}
