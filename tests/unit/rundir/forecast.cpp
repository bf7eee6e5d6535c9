#include "rundir/usage/forecast.hpp"

#include <catch2/catch.hpp>

#include "core/host.hpp"

using namespace trainrt::rundir;
using Catch::Contains;

namespace {

/// Returns a time, in minutes after noon.
std::string clock(int minutes) {
  const auto two = [](int number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  return "2026-11-21T" + two(12 + minutes / 60) + ":" + two(minutes % 60) + ":00Z";
}

struct Job {
  const char* id = "";
  int restart = 0;
  int start = 0, limit = 0;  ///< minutes; 0: no limit
};

/// Returns an attempt that made iterations `first` to `last` of 1000. `start` and `end` are minutes after noon. If `end` <
/// 0, the attempt is running; see seen_at() for its last heartbeat.
AttemptRecord attempt(Job job, int start, int end, int exit_code, std::int64_t first, std::int64_t last, Timing timing) {
  AttemptRecord record;
  record.owner.job_id = job.id;
  record.owner.restart_count = job.restart;
  record.start = clock(start);
  record.end = end < 0 ? "" : clock(end);
  record.seen = record.end;
  record.exit_code = exit_code;
  record.why = exit_code == 70 ? "failed: x" : "";
  record.first_iteration = first;
  record.iteration = record.saved_iteration = last;
  record.last_step = last;
  record.first_step = first;
  record.saved_step = last;
  record.timing = timing;
  record.expected = 1000;
  if (job.limit > 0) {
    record.job_start = clock(job.start);
    record.job_end = clock(job.start + job.limit);
  }
  return record;
}

AttemptRecord seen_at(AttemptRecord record, int minutes) {
  record.seen = clock(minutes);
  return record;
}

}  // namespace

TEST_CASE("the forecast of a run without restarts is its remaining iterations and their share of saves") {
  const auto now = clock(11);
  const auto runs = seen_at(attempt({}, 0, -1, -1, 0, 100, {60, 500, 100, 0}), 11);
  const auto forecast = forecast_of(std::vector{runs}, now);
  REQUIRE(forecast);
  CHECK(forecast->training_s == Approx(900 * 5));
  CHECK(forecast->saves_s == Approx(900));
  CHECK(forecast->left_s() == Approx(5400));
  CHECK(forecast->runs);
  CHECK(brief(*forecast) == "1:30:00 left");
  CHECK(advice_of(*forecast).empty());
}

TEST_CASE("the time since the last report counts for the next iteration") {
  auto runs = seen_at(attempt({}, 0, -1, -1, 0, 2, {0, 3600 + 600, 0, 0}), 70);
  runs.unreported_s = 600;
  CHECK(forecast_of(std::vector{runs}, clock(70))->left_s() == Approx(998 * 1800 - 600));
  CHECK(forecast_of(std::vector{runs}, clock(75))->left_s() == Approx(998 * 1800 - 900));
}

TEST_CASE("there is no forecast if too little is known") {
  const auto good = seen_at(attempt({}, 0, -1, -1, 0, 100, {60, 500, 0, 0}), 10);
  CHECK(forecast_of(std::vector{good}, clock(10)));
  CHECK_FALSE(forecast_of({}, clock(10)));
  auto untold = good;
  untold.expected = 0;
  CHECK_FALSE(forecast_of(std::vector{untold}, clock(10)));
  auto young = good;
  young.timing = {60, 1.5, 0, 0};
  CHECK_FALSE(forecast_of(std::vector{young}, clock(10)));
  auto unmoved = good;
  unmoved.iteration = 0;
  CHECK_FALSE(forecast_of(std::vector{unmoved}, clock(10)));
  auto done = good;
  done.iteration = 1000;
  CHECK_FALSE(forecast_of(std::vector{done}, clock(10)));
  auto silent = good;
  silent.silent = true;
  CHECK_FALSE(forecast_of(std::vector{silent}, clock(10)));
  CHECK_FALSE(forecast_of(std::vector{attempt({}, 0, 10, 0, 0, 100, {60, 500, 0, 0})}, clock(10)));
  SECTION("nor of all that was lost") {
    auto killed = attempt({}, 0, 10, -1, 0, 100, {60, 500, 0, 0});
    killed.saved_step = killed.saved_iteration = -1;
    CHECK_FALSE(forecast_of(std::vector{killed}, clock(10)));
  }
}

TEST_CASE("the forecast includes lost steps, waits and starts after failures in an allocation") {
  // Killed at iteration 100 with 80 saved: 100 of its 500 s are lost; 60 s until the restart, and 40 s to start.
  auto killed = attempt({"7"}, 0, 10, -1, 0, 100, {100, 500, 0, 0});
  killed.saved_iteration = killed.saved_step = 80;
  const auto again = seen_at(attempt({"7"}, 11, -1, -1, 80, 200, {40, 600, 0, 0}), 22);
  const auto forecast = forecast_of(std::vector{killed, again}, clock(22));
  REQUIRE(forecast);
  CHECK(forecast->training_s == Approx(800 * 5));
  CHECK(forecast->repeated_s == Approx(4000 * (100 + 60 + 40) / 1000.0));
  CHECK(forecast->waiting_s == 0);
}

TEST_CASE("a long wait until a user resumed the run is not part of the forecast") {
  const auto stopped = attempt({}, 0, 10, 75, 0, 100, {100, 500, 0, 0});
  const auto again = seen_at(attempt({}, 90, -1, -1, 100, 200, {40, 500, 0, 0}), 99);
  const auto forecast = forecast_of(std::vector{stopped, again}, clock(99));
  REQUIRE(forecast);
  CHECK(forecast->training_s == Approx(4000));
  CHECK(forecast->repeated_s == Approx(4000 * 40 / 1000.0));
  CHECK(forecast->waiting_s == 0);
}

TEST_CASE("work that does not fit into the job needs further jobs, each with start, end and queue wait") {
  // Two jobs of 60 minutes, 20 minutes apart; the second is 30 minutes old. 10 s per iteration.
  const auto first = attempt({"7", 0, 0, 60}, 0, 60, 75, 0, 330, {270, 3300, 0, 30});
  const auto second = seen_at(attempt({"7", 1, 80, 60}, 80, -1, -1, 330, 483, {270, 1530, 0, 0}), 110);
  const auto forecast = forecast_of(std::vector{first, second}, clock(110));
  REQUIRE(forecast);
  CHECK(forecast->training_s == Approx(5170));
  CHECK(forecast->job_limit_s == 3600);
  // 1800 s are left, 45 of them for the end. 3415 s remain, and a job has 3600 - 270 - 45 = 3285 of them.
  CHECK(forecast->more_jobs == 2);
  CHECK(forecast->waiting_s == Approx(2 * 1200));
  CHECK(forecast->jobs_s == Approx(2 * (270 + 45)));
  CHECK(forecast->waits_known);
  // 3415/2 + 315 = 2022.5; with the reserve 2123.6: 40 minutes.
  CHECK(forecast->advised_limit_s == 2400);
  CHECK(advice_of(*forecast) == "this run needs this and 2 more jobs of 01:00:00; 00:40:00 would do");
  CHECK(brief(*forecast) == "2:16:40 left in this and 2 more jobs");
}

TEST_CASE("a run that fits into the current time limit of its job needs no further job") {
  const auto runs = seen_at(attempt({"7", 0, 0, 180}, 0, -1, -1, 0, 500, {60, 3000, 0, 0}), 51);
  const auto forecast = forecast_of(std::vector{runs}, clock(51));
  REQUIRE(forecast);
  CHECK(forecast->more_jobs == 0);
  CHECK(forecast->left_s() == Approx(3000));
  auto shorter = runs;
  shorter.job_end = clock(60);
  CHECK(forecast_of(std::vector{shorter}, clock(51))->more_jobs == 1);
  CHECK_FALSE(forecast_of(std::vector{shorter}, clock(51))->waits_known);
}

TEST_CASE("without a start time from Slurm, a job begins with its first attempt") {
  auto runs = seen_at(attempt({"7", 0, 0, 180}, 0, -1, -1, 0, 500, {60, 3000, 0, 0}), 51);
  runs.job_start.clear();
  runs.start = "2026-11-21T12:00:03Z";
  CHECK(forecast_of(std::vector{runs}, clock(51))->job_limit_s == 3 * 3600);
}

TEST_CASE("the forecast of a stopped run has its further jobs, without the wait for the next one") {
  const auto stopped = attempt({"7", 0, 0, 60}, 0, 60, 75, 0, 330, {270, 3300, 0, 30});
  const auto forecast = forecast_of(std::vector{stopped}, clock(90));
  REQUIRE(forecast);
  CHECK_FALSE(forecast->runs);
  CHECK(forecast->training_s == Approx(6700));
  CHECK(forecast->more_jobs == 3);
  CHECK(brief(*forecast) == "2:07:25 left in 3 jobs");
  CHECK_THAT(advice_of(*forecast), Contains("this run needs 3 jobs of 01:00:00"));
}

TEST_CASE("there is no forecast for jobs that are too short to make progress") {
  const auto runs = seen_at(attempt({"7", 0, 0, 10}, 0, -1, -1, 0, 5, {590, 5, 0, 0}), 9);
  CHECK_FALSE(forecast_of(std::vector{runs}, clock(9)));
}

TEST_CASE("a starting attempt is forecast from the saved point and speed of the previous one") {
  auto killed = attempt({"7"}, 0, 10, -1, 0, 100, {100, 500, 0, 0});
  killed.saved_iteration = killed.saved_step = 80;
  AttemptRecord starts = seen_at(attempt({"7"}, 11, -1, -1, 0, 0, {40, 0, 0, 0}), 12);
  starts.saved_iteration = starts.saved_step = -1;
  starts.expected = 0;
  const auto forecast = forecast_of(std::vector{killed, starts}, clock(12));
  REQUIRE(forecast);
  CHECK(forecast->training_s == Approx(920 * 5));
}

TEST_CASE("the progress of an observed program is counted in its position") {
  auto runs = seen_at(attempt({}, 0, -1, -1, 0, 7, {10, 100, 0, 0}), 2);
  runs.silent = true;
  runs.first_step = 50;
  runs.position = 100;
  runs.expected = 150;
  CHECK(forecast_of(std::vector{runs}, clock(2))->training_s == Approx(100));
}

TEST_CASE("times are written in Slurm's format") {
  CHECK(slurm_time(4 * 3600) == "04:00:00");
  CHECK(slurm_time(26 * 3600 + 61) == "1-02:01:01");
}

TEST_CASE("records and heartbeats keep the inputs of a forecast, and older records lack them") {
  auto record = attempt({"7", 0, 0, 60}, 0, -1, -1, 0, 10, {1, 2, 3, 4});
  record.number = 3;
  record.unreported_s = 1.5;
  const auto read = attempt_record_from(to_text(record));
  CHECK(read.expected == 1000);
  CHECK(read.unreported_s == 1.5);
  CHECK(read.job_start == clock(0));
  CHECK(read.job_end == clock(60));
  auto beating = AttemptRecord{};
  merge_heartbeat_text(beating, heartbeat_text(record));
  CHECK(beating.expected == 1000);
  CHECK(beating.job_end == clock(60));
  auto text = to_text(AttemptRecord{.number = 1});
  CHECK(text.find("expected") == std::string::npos);
  CHECK(attempt_record_from(text).expected == 0);
  text.insert(text.find('{') + 1, "\"expected\": -1,");
  CHECK_THROWS_WITH(attempt_record_from(text), Contains("expected"));
}
