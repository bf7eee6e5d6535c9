// What curves hold of a run's reports, and what gnuplot is told.
#include "view/curves/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "view/curves/gnuplot.hpp"

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

Curve only_curve(const RunSummary& run, const PlotChoice& choice = {}) {
  const auto panels = panels_of(std::span(&run, 1), choice);
  REQUIRE(panels.size() == 1);
  REQUIRE(panels[0].curves.size() == 1);
  return panels[0].curves[0];
}

}  // namespace

TEST_CASE("a curve has each report at its iteration, its time of training, its step or another metric") {
  const auto run = run_of("a", 3);
  CHECK(only_curve(run).points == std::vector<Point>{{1, 1}, {2, 0.5}, {3, 1.0 / 3}});
  CHECK(only_curve(run, {.x = "time"}).points.back() == Point{1.5, 1.0 / 3});
  CHECK(only_curve(run, {.x = "step"}).points.back() == Point{30, 1.0 / 3});
  CHECK(only_curve(run, {.x = "epoch"}).points.back() == Point{3, 1.0 / 3});
  CHECK(only_curve(run, {.metrics = {"epoch"}}).points.back() == Point{3, 3});
}

TEST_CASE("a metric or an axis that no report has is refused with what there is") {
  const std::vector<RunSummary> runs = {run_of("a", 2)};
  CHECK_THROWS_WITH(panels_of(runs, {.metrics = {"los"}}), Contains("'los'") && Contains("did you mean 'loss'"));
  CHECK_THROWS_WITH(panels_of(runs, {.x = "hours"}), Contains("'hours'") && Contains("iteration, time, loss"));
  CHECK_THROWS_WITH(panels_of(std::vector{run_of("a", 0)}, {}), Contains("no report"));
}

TEST_CASE("values that are not finite are left out and counted") {
  auto run = run_of("a", 4);
  run.reports[1].values[0].second = std::numeric_limits<double>::quiet_NaN();
  run.reports[2].values[0].second = std::numeric_limits<double>::infinity();
  const auto curve = only_curve(run);
  CHECK(curve.points.size() == 2);
  CHECK(curve.not_finite == 2);
}

TEST_CASE("restarts are marked at the first report that each attempt made, the best report by its score") {
  auto run = run_of("a", 5);
  for (const std::int64_t first : {0, 2, 5}) {  // the third attempt has made none yet
    rundir::AttemptRecord attempt;
    attempt.first_iteration = first;
    run.attempts.push_back(attempt);
  }
  run.record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "max"}};
  const auto curve = only_curve(run);
  CHECK(curve.restarts == std::vector<Point>{{3, 1.0 / 3}});
  CHECK(curve.best == Point{1, 1});
}

TEST_CASE("of many points so many are kept as asked, with every extreme value, in order") {
  std::vector<Point> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({static_cast<double>(i), std::sin(i / 7000.0)});
  points[31'234].y = 50;
  points[77'777].y = -50;
  const auto kept = thinned(points, 1000);
  CHECK(kept.size() <= 1000);
  CHECK(std::ranges::count(kept, Point{31'234, 50}) == 1);
  CHECK(std::ranges::count(kept, Point{77'777, -50}) == 1);
  CHECK((kept.front() == points.front() && kept.back() == points.back()));
  CHECK(std::ranges::is_sorted(kept, {}, &Point::x));
  CHECK(thinned(points, 200'000).size() == points.size());
}

TEST_CASE("the moving average begins at the first value and follows with the weight") {
  const auto averages = smoothed(std::vector<Point>{{1, 8}, {2, 4}, {3, 4}}, 0.5);
  CHECK(averages[0] == Point{1, 8});
  CHECK(averages[1].y == Approx((0.5 * 8 * 0.5 + 0.5 * 4) / 0.75));
  CHECK(averages[2].y == Approx((0.125 * 8 + 0.25 * 4 + 0.5 * 4) / 0.875));
  CHECK(smoothed(std::vector<Point>{{1, 3}, {2, 5}}, 0)[1] == Point{2, 5});
}

TEST_CASE("names are data to gnuplot: quoted, in one line, whatever they hold") {
  const Panel panel{.metric = "it's `touch x`\nsystem('touch y')", .curves = {{.run = "a'b", .points = {{1, 2}, {2, 3}}}}};
  const auto script = gnuplot_script(std::span(&panel, 1), {.x_label = "x"});
  CHECK_THAT(script, Contains("set title 'it''s `touch x` system(''touch y'')'\n"));
  CHECK_THAT(script, Contains("title 'a''b'"));
  CHECK_THAT(script, Contains("<< EOD\n1 2\n2 3\nEOD\n"));
}
