// Tests of step times: reading of windows, times by rank, and charts.
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "view/curves/rank_times.hpp"
#include "view/curves/step_charts.hpp"
#include "view/page/heat_map.hpp"

using namespace trainrt;
using namespace trainrt::view;
using namespace trainrt::view::page;
using Catch::Matchers::Contains;

namespace {

/// Returns ten windows of `ranks` ranks at 1000 µs. Rank `slow` takes 1500 µs, rank `late` takes 2000 µs in one window.
std::vector<StepWindow> windows_of(std::size_t ranks, std::size_t slow, std::size_t late) {
  std::vector<StepWindow> windows;
  for (int i = 0; i < 10; ++i) {
    StepWindow window{
        .attempt = 1 + i / 6, .time = "2026-11-24T20:17:0" + std::to_string(i) + "Z", .step = 10 * (i + 1), .steps = 10};
    window.own_us.assign(ranks, 1000);
    window.own_us[slow] = 1500;
    if (i == 4) window.own_us[late] = 2000;
    window.waits_us.assign(ranks, 500);
    window.work_us = {{"input", 200}, {"forward", 800}};
    windows.push_back(window);
  }
  return windows;
}

}  // namespace

TEST_CASE("a line of step times is parsed into a window") {
  const auto window = step_window_from(
      R"({"time":"2026-11-24T20:17:01Z","step":812,"steps":50,"own_us":[5,6],"waits_us":[2,1],"work_us":{"input":1},)"
      R"("slow":{"rank":1,"work":"input","ratio":1.2,"why":"clock"}})",
      3);
  REQUIRE(window);
  CHECK((window->attempt == 3 && window->step == 812 && window->steps == 50));
  CHECK(window->own_us == std::vector<float>{5, 6});
  CHECK(window->work_us.at("input") == 1);
  REQUIRE(window->slow);
  CHECK((window->slow->rank == 1 && window->slow->why == "clock"));
}

TEST_CASE("incomplete and foreign lines are rejected, and invalid values become NaN") {
  for (const auto* line : {"", "{\"step\":1", "[]", "{}", "null", R"({"step":"x","own_us":[1]})",
                           R"({"step":1,"own_us":[]})", R"({"step":18446744073709551615,"own_us":[1]})"})
    CHECK_FALSE(step_window_from(line, 1));
  CHECK_FALSE(step_window_from(std::string(100'000, '['), 1));
  const auto window =
      step_window_from(R"({"step":1,"own_us":[1,null,-3,"x"],"waits_us":[1],"work_us":[],"slow":{"rank":-1}})", 1);
  REQUIRE(window);
  CHECK(window->own_us[0] == 1);
  CHECK((std::isnan(window->own_us[1]) && std::isnan(window->own_us[2]) && std::isnan(window->own_us[3])));
  CHECK(window->waits_us.empty());
  CHECK_FALSE(window->slow);
}

TEST_CASE("each rank has a row, and is compared with the median rank in the same interval") {
  const auto times = rank_times_of(windows_of(4, 2, 3));
  REQUIRE(times.rows.size() == 4);
  CHECK(times.rows[2].ratio == Approx(1.5));
  CHECK(times.rows[0].ratio == Approx(1));
  CHECK(times.rows[3].own_us[4] == 2000);
  CHECK(times.median_us[4] == 1000);  // of 1000, 1000, 1500 and 2000: of two in the middle the lower
  CHECK(times.rows[2].median_us == 1500);
}

TEST_CASE("of thousands of ranks, the slowest have rows, also a rank that was slow for a short time") {
  const auto times = rank_times_of(windows_of(5000, 4321, 77));
  CHECK(times.rows.size() == 40);
  CHECK(name_of(times.rows[0]) == "rank 4321");
  CHECK(std::ranges::any_of(times.rows, [](const auto& row) { return !row.is_group() && row.first == 77; }));
  std::size_t covered = 0;
  for (const auto& row : times.rows)
    if (row.is_group()) covered += row.last - row.first + 1;
  CHECK(covered == 5000);
  CHECK(name_of(times.rows.back()) == "ranks 4821 to 4999");
}

TEST_CASE("an interval has windows of one attempt only") {
  const auto windows = windows_of(2, 0, 1);
  const auto intervals = intervals_of(windows, 3);
  REQUIRE(intervals.size() == 3);  // 4, 2 | 4
  CHECK((intervals[0].size() == 4 && intervals[1].size() == 2 && intervals[2].size() == 4));
  const auto times = rank_times_of(windows, {.intervals = 3});
  CHECK(times.rows[1].own_us[1] == Approx(1500));  // 2000 and 1000
  const auto json = heat_map_json(times);
  CHECK(json["columns"][1] == "attempt 1, steps 41 to 60, 2026-11-24T20:17:04Z");
  CHECK(json["own"][1][1] == 1500);
  CHECK_THAT(heat_map_of(times).str(), Contains("class=\"border\" d=\"M2,0v2\""));
}

TEST_CASE("charts show the rate between two windows and the work in a step") {
  const auto charts = step_charts(windows_of(2, 0, 1));
  REQUIRE(charts.size() == 3);
  CHECK(charts[0].series[0].y[1] == Approx(10));
  CHECK((std::isnan(charts[0].series[0].y[6]) && std::isnan(charts[1].series[0].y[6])));  // no line joins the attempts
  REQUIRE(charts[1].series.size() == 3);                                                  // forward, input, waiting
  CHECK((charts[1].series[0].name == "forward" && charts[1].series[0].y[0] == Approx(0.8)));
  CHECK(charts[1].series[2].y[0] == Approx(0.5));
  CHECK(charts[2].series[1].y[4] == Approx(2));
  CHECK(step_charts({}).empty());
}

TEST_CASE("sums over an attempt are shown per iteration, also after a restart") {
  RunSummary run;
  for (const double sum : {0.1, 0.3, 0.6, 0.2, 0.25})
    run.reports.push_back(
        {static_cast<std::int64_t>(run.reports.size()) + 1, {{"_time_data_s", sum}, {"_time_this_iter_s", 1.0}}});
  const auto charts = report_charts(run);
  REQUIRE(charts.size() == 2);
  const auto& shares = charts[1].series[0].y;
  REQUIRE(shares.size() == 5);
  CHECK(shares[0] == Approx(10));
  CHECK(shares[2] == Approx(30));
  CHECK(shares[3] == Approx(20));  // of the second attempt
  CHECK(shares[4] == Approx(5));
  run.reports[2].values.erase(run.reports[2].values.begin());
  CHECK(std::isnan(increments_of(run, "_time_data_s")[2]));
}
