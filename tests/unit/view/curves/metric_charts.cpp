// Tests of the charts of the metrics of runs.
#include "view/curves/metric_charts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::view;
using Catch::Matchers::Contains;

namespace {

RunSummary run_of(const std::string& name, std::int64_t reports) {
  RunSummary run;
  run.record.name = name;
  for (std::int64_t i = 1; i <= reports; ++i)
    run.reports.push_back({i,
                           {{"loss", 1.0 / static_cast<double>(i)},
                            {"note", "text"},
                            {"epoch", i},
                            {"_step", i * 10},
                            {"_time_this_iter_s", 0.5}}});
  return run;
}

Series only_series(const RunSummary& run, const MetricChartOptions& options = {}) {
  const auto charts = metric_charts(std::span(&run, 1), options).charts;
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].series.size() == 1);
  return charts[0].series[0];
}

void check(const std::vector<RunSummary>& runs, const MetricChartOptions& options) {
  check_metrics_and_axes(runs, options);
}

}  // namespace

TEST_CASE("the x-axis is the iteration, the time of training, the step or another metric") {
  const auto run = run_of("a", 3);
  CHECK(only_series(run).y == std::vector<double>{1, 0.5, 1.0 / 3});
  CHECK(only_series(run).x == std::vector<std::vector<double>>{{1, 2, 3}});
  CHECK(only_series(run, {.x_axes = {"time", "step"}}).x == std::vector<std::vector<double>>{{0.5, 1, 1.5}, {10, 20, 30}});
  CHECK(only_series(run, {.x_axes = {"epoch"}}).x[0].back() == 3);
  CHECK(only_series(run, {.metrics = {"epoch"}}).y.back() == 3);
}

TEST_CASE("a curve over a metric is sorted by it") {
  auto run = run_of("a", 3);
  for (std::size_t i = 0; i < 3; ++i) run.reports[i].values.push_back({"size", 10.0 - static_cast<double>(i)});
  const auto series = only_series(run, {.metrics = {"loss"}, .x_axes = {"size"}});
  CHECK(series.x[0] == std::vector<double>{8, 9, 10});
  CHECK(series.y == std::vector<double>{1.0 / 3, 0.5, 1});
}

TEST_CASE("smoothing adds the moving average, and keeps the values as a faint line with the marks") {
  auto run = run_of("a", 4);
  run.record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "max"}};
  const auto charts = metric_charts(std::span(&run, 1), {.smoothing = 0.5}).charts;
  REQUIRE(charts[0].series.size() == 2);
  CHECK((charts[0].series[0].is_faint && charts[0].series[0].best == 0));
  CHECK((!charts[0].series[1].is_faint && !charts[0].series[1].best && charts[0].series[1].y[0] == 1));
}

TEST_CASE("a metric or an x-axis that no report has is an error that lists the valid names") {
  const std::vector<RunSummary> runs = {run_of("a", 2)};
  CHECK_NOTHROW(check(runs, {}));
  CHECK_THROWS_WITH(check(runs, {.metrics = {"los"}}), Contains("'los'") && Contains("did you mean 'loss'"));
  CHECK_THROWS_WITH(check(runs, {.x_axes = {"hours"}}), Contains("'hours'") && Contains("iteration, time, loss"));
  CHECK_THROWS_WITH(check({run_of("a", 0)}, {}), Contains("no reports"));
  CHECK_THROWS_WITH(check(runs, {.x_axes = {"loss"}}), Contains("--metrics"));
}

TEST_CASE("values that are not finite are left out and counted") {
  auto run = run_of("a", 4);
  run.reports[1].values[0].second = std::numeric_limits<double>::quiet_NaN();
  run.reports[2].values[0].second = std::numeric_limits<double>::infinity();
  const auto series = only_series(run);
  CHECK(series.y.size() == 2);
  CHECK(series.not_finite == 2);
}

TEST_CASE("the first report of each later attempt and the best report are marked") {
  auto run = run_of("a", 5);
  for (const std::int64_t first : {0, 2, 5}) {  // the third attempt has no report yet
    rundir::AttemptRecord attempt;
    attempt.first_iteration = first;
    run.attempts.push_back(attempt);
  }
  run.record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "max"}};
  const auto series = only_series(run);
  CHECK(series.restarts == std::vector<std::size_t>{2});
  CHECK(series.best == 0);
}

TEST_CASE("a long curve keeps its extreme values, the first report of each attempt and the best report") {
  auto run = run_of("a", 100'000);
  run.reports[31'233].values[0].second = 50.0;
  run.reports[77'776].values[0].second = -50.0;
  run.reports[99].values[0].second = std::numeric_limits<double>::quiet_NaN();
  run.reports[100].values[0].second = std::numeric_limits<double>::infinity();
  run.attempts = {{.number = 1}, {.number = 2, .first_iteration = 50'000}};
  run.record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "min"}};
  const auto series = only_series(run, {.max_points = 500});
  CHECK(series.y.size() <= 503);
  CHECK(std::ranges::max(series.y) == 50);
  CHECK(series.y[series.best.value()] == -50);
  REQUIRE(series.restarts.size() == 1);
  CHECK(series.x[0][series.restarts[0]] == 50'001);
  CHECK(series.not_finite == 2);
}

TEST_CASE("many runs have a limited number of points together, and the best runs are shown") {
  std::vector<RunSummary> runs;
  for (int i = 0; i < 100; ++i) {
    runs.push_back(run_of("run", 2000));
    runs.back().record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "min"}};
    runs.back().reports.back().values[0].second = -static_cast<double>(i);
  }
  const auto charts = metric_charts(runs, {.max_runs = 50, .max_total_points = 20'000}).charts;
  CHECK(charts[0].series.size() == 50);
  CHECK(charts[0].series[0].y.back() == -99);  // the best run comes first
  CHECK(charts[0].series[0].style == 99);      // its index among all runs
  CHECK(charts[0].note == "50 of 100 runs are shown.");
  std::size_t points = 0;
  for (const auto& chart : charts)
    for (const auto& series : chart.series) points += series.y.size();
  CHECK(points <= 21'000);
}
