// Tests of the page of a sweep: the order of the trials, the best trial, and the axes of the parallel coordinates.
#include <cmath>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "view/curves/metric_charts.hpp"
#include "view/page/page.hpp"
#include "view/page/sweep_section.hpp"

using namespace trainrt;
using namespace trainrt::view;
using namespace trainrt::view::page;
using Catch::Matchers::Contains;

namespace {

RunSummary run_of(const std::string& name, const std::vector<double>& losses) {
  RunSummary run;
  run.record.name = name;
  run.state = rundir::RunState::finished;
  std::int64_t iteration = 0;
  for (const auto loss : losses) {
    ++iteration;
    run.reports.push_back(
        {iteration, {{"loss", loss}, {"epoch", iteration}, {"rmse", 2 * loss}, {"_time_this_iter_s", 1.0}}});
  }
  return run;
}

SweepTrial trial_of(const std::string& name, std::optional<double> best, const std::string& lr, const std::string& why) {
  return {.name = name,
          .path = "/runs/sweep/" + name,
          .state = best ? rundir::RunState::finished : rundir::RunState::failed,
          .config = {{"loop.lr", lr}, {"loop.fixed", "3"}, {"data.train.noise", lr}},
          .reports = best ? 2 : 0,
          .best = best,
          .last = best,
          .why = why};
}

struct Ranked {
  SweepSummary sweep;
  std::vector<RunSummary> runs;
};

Ranked ranked_sweep(bool minimize) {
  Ranked ranked{.sweep = {.path = "/runs/sweep",
                          .metric = "loss",
                          .minimize = minimize,
                          .trials = {trial_of("trial_0", {}, "0.3", "exited with 1"),
                                     trial_of("trial_1", 0.5, "0.1", "stopped early by ASHA at report 1"),
                                     trial_of("trial_2", 0.25, "0.12345678901234567", "reached max_t = 2")}},
                .runs = {run_of("old_generation", {1}), run_of("trial_1", {0.5}), run_of("trial_2", {0.25, 0.75})}};
  rank(ranked.sweep, ranked.runs);
  return ranked;
}

std::vector<std::string> names_of(const std::vector<RunSummary>& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs) names.push_back(run.record.name);
  return names;
}

}  // namespace

TEST_CASE("trials and their runs are sorted by the metric, and those without it come last") {
  using Names = std::vector<std::string>;
  const auto lowest = ranked_sweep(true), highest = ranked_sweep(false);
  CHECK(lowest.sweep.best()->name == "trial_2");
  CHECK(names_of(lowest.runs) == Names{"trial_2", "trial_1", "old_generation"});
  CHECK(lowest.runs.front().best()->iteration == 1);
  CHECK(highest.sweep.best()->name == "trial_1");
  CHECK(names_of(highest.runs) == Names{"trial_1", "trial_2", "old_generation"});
  CHECK(highest.runs[1].best()->iteration == 2);
  CHECK(highest.sweep.trials.back().name == "trial_0");
}

TEST_CASE("the page of a sweep shows the metric, the best trial and the reason of each end") {
  const auto [sweep, runs] = ranked_sweep(true);
  const auto page = page_of(sweep, runs, "sweep", "now");
  CHECK_THAT(page,
             Contains("sweep of 3 trials · metric loss, the lowest is the best · 2 finished, 1 failed · /runs/sweep"));
  CHECK_THAT(page, Contains("Details: trainrt result /runs/sweep/trial_2"));
  CHECK_THAT(page, Contains("<data value=\"0.12345678901234567\" title=\"0.12345678901234567\">0.123457</data>"));
  CHECK_THAT(page, Contains("aria-sort=\"ascending\">best loss</th>"));
  const auto table = page.substr(page.find("<tbody>"));
  CHECK(table.find("trial_2") < table.find("trial_1"));
  CHECK(table.find("trial_1") < table.find("trial_0"));
  for (const auto* end : {"reached max_t = 2", "stopped early by ASHA at report 1", "exited with 1"})
    CHECK_THAT(table, Contains(end));
  CHECK_THAT(table, Contains("<data value=\"0.5\">0.5</data>"));  // rmse of the best report
}

TEST_CASE("the axes of a sweep are the differing keys of its space and its metric") {
  const auto [sweep, runs] = ranked_sweep(true);
  const auto json = page::parallel_json(sweep, runs);
  CHECK(json["axes"].dump() == R"(["data.train.noise","lr","loss"])");
  REQUIRE(json["runs"].size() == 2);  // the failed trial has no run
  CHECK(json["runs"][0]["name"] == "trial_2");
  CHECK(json["runs"][0]["values"][2] == 0.25);
}

TEST_CASE("a sweep without a metric, or without a report of it, has no best trial") {
  auto [sweep, runs] = ranked_sweep(true);
  for (auto& trial : sweep.trials) trial.best.reset();
  CHECK_THAT(page_of(sweep, runs, "sweep", "now"), Contains("No trial has reported loss yet."));
  sweep.metric.clear();
  CHECK_THAT(page_of(sweep, runs, "sweep", "now"), Contains("has no tune.metric") && Contains("no metric"));
}

TEST_CASE("of ranked runs the first are shown, and only the best report of the first is marked") {
  const auto [sweep, runs] = ranked_sweep(true);
  const auto chart = metric_charts(runs, {.metrics = {"loss"}, .max_runs = 2, .are_ranked = true}).charts.front();
  REQUIRE(chart.series.size() == 2);
  CHECK((chart.series[0].name == "trial_2" && chart.series[0].best == 0));
  CHECK((chart.series[1].name == "trial_1" && !chart.series[1].best));
}
