#include <algorithm>
#include <cmath>
#include <map>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "tune/search/quantile.hpp"
#include "tune/search/scheduler.hpp"

using namespace trainrt;
using namespace trainrt::tune;

namespace {

std::unique_ptr<Scheduler> open(const std::string& name, const std::map<std::string, std::string>& keys,
                                std::uint64_t trials = 100) {
  const auto& kind = find_plugin(scheduler_table(), name, "scheduler");
  Options options;
  for (const auto& [key, value] : keys) options.set(key, {value, "tune.ini:3"});
  return kind.open(checked(options, kind.options, "[tune." + name + "]"), {5, trials});
}

bool stops(const Scheduler& scheduler, const TrialReport& report) {
  return scheduler.verdict(report).kind == Verdict::Kind::stop;
}

struct Step {
  TrialReport report;
  bool stops;
};

/// Lets trials report in a random order, each until it is stopped or has made `most` reports.
std::vector<Step> played(Scheduler& scheduler, std::uint64_t trials, std::int64_t most, std::uint64_t seed) {
  Random random(seed, 0);
  std::map<std::uint64_t, std::int64_t> at;
  for (std::uint64_t trial = 0; trial < trials; ++trial) at[trial] = 0;
  std::vector<Step> steps;
  while (!at.empty()) {
    const auto one = std::next(at.begin(), static_cast<std::ptrdiff_t>(random.below(at.size())));
    const TrialReport report{one->first,
                             {1, ++one->second},
                             std::round(100 * random.uniform()) / 100 + static_cast<double>(one->first % 7) / 10};
    bool ends = false;
    if (scheduler.wants(report.trial, report.at.iteration)) {
      ends = stops(scheduler, report);
      scheduler.observe(report);
      steps.push_back({report, ends});
    }
    if (ends || one->second == most) at.erase(one);
  }
  return steps;
}

/// Asynchronous successive halving as in Ray Tune's _Bracket (async_hyperband.py). Trials are compared at rungs, from the
/// last to the first. The cutoff of a rung is numpy.nanpercentile of the scores that were recorded there.
class ReferenceAsha {
 public:
  ReferenceAsha(double grace, double most, double factor) : most_(most), factor_(factor) {
    const int rungs = static_cast<int>(std::log(most / grace) / std::log(factor) + 1);
    for (int k = rungs - 1; k >= 0; --k) rungs_.push_back({grace * std::pow(factor, k), {}});
  }
  bool stops(const TrialReport& report) {
    if (static_cast<double>(report.at.iteration) >= most_) return true;
    for (auto& [at, recorded] : rungs_) {
      if (static_cast<double>(report.at.iteration) < at || recorded.contains(report.trial)) continue;
      bool ends = false;
      if (!recorded.empty()) ends = report.score < percentile(recorded, (1 - 1 / factor_) * 100);
      recorded[report.trial] = report.score;
      return ends;
    }
    return false;
  }

 private:
  using Recorded = std::map<std::uint64_t, double>;
  static double percentile(const Recorded& recorded, double percent) {
    std::vector<double> values;
    for (const auto& [trial, score] : recorded) values.push_back(score);
    std::ranges::sort(values);
    const double at = percent / 100 * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(at)), above = static_cast<std::size_t>(std::ceil(at));
    return values[below] + (at - std::floor(at)) * (values[above] - values[below]);
  }
  double most_, factor_;
  std::vector<std::pair<double, Recorded>> rungs_;
};

}  // namespace

TEST_CASE("quantiles are interpolated linearly between the values") {
  const std::vector<double> values{1, 2, 4, 8};
  CHECK(quantile(values, 0) == 1);
  CHECK(quantile(values, 1) == 8);
  CHECK(quantile(values, 0.5) == 3);
  CHECK(quantile(values, 0.75) == 5);
  CHECK(quantile(std::vector<double>{3}, 0.9) == 3);
}

TEST_CASE("asha decides like the reference at each report") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    const auto asha =
        open("asha", {{"max_t", "40"}, {"grace_period", "2"}, {"reduction_factor", seed % 2 == 0 ? "3" : "2.5"}});
    const auto steps = played(*asha, 60, 40, seed);
    ReferenceAsha reference(2, 40, seed % 2 == 0 ? 3 : 2.5);
    int stopped = 0;
    // The reference decides on every report; it must not stop a trial at reports that asha does not request.
    for (const auto& step : steps) {
      if (step.stops) ++stopped;
      const bool expected = reference.stops(step.report);
      if (expected != step.stops) FAIL_CHECK("trial " << step.report.trial << " at " << step.report.at.iteration);
    }
    CHECK(stopped == 60);
    CHECK(steps.size() < 60 * 4);
  }
}

TEST_CASE("decisions of schedulers do not depend on the order of other trials' reports") {
  for (const auto& [name, keys] : std::vector<std::pair<std::string, std::map<std::string, std::string>>>{
           {"asha", {{"max_t", "20"}, {"brackets", "2"}, {"reduction_factor", "2"}}},
           {"median", {{"grace_period", "3"}}}}) {
    INFO(name);
    const auto first = open(name, keys);
    const auto steps = played(*first, 30, 20, 9);
    std::size_t differing = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const auto again = open(name, keys);
      std::map<std::uint64_t, std::vector<TrialReport>> by_trial;
      for (std::size_t k = 0; k < i; ++k) by_trial[steps[k].report.trial].push_back(steps[k].report);
      for (auto trial = by_trial.rbegin(); trial != by_trial.rend(); ++trial)
        for (const auto& report : trial->second) again->observe(report);
      if (stops(*again, steps[i].report) != steps[i].stops) ++differing;
    }
    CHECK(differing == 0);
  }
}

TEST_CASE("median ends a trial that is below the median of the others' means") {
  const auto median = open("median", {{"grace_period", "2"}, {"min_samples_required", "3"}});
  for (std::uint64_t trial = 1; trial <= 3; ++trial)
    for (std::int64_t iteration = 1; iteration <= 4; ++iteration)
      median->observe(
          {trial,
           {1, iteration},
           iteration == 1 ? 100.0 : static_cast<double>(trial)});  // the first report is within the grace period
  CHECK_FALSE(stops(*median, {9, {1, 1}, -50}));
  CHECK(stops(*median, {9, {1, 2}, 1.9}));
  CHECK_FALSE(stops(*median, {9, {1, 2}, 2.0}));
  median->observe({9, {1, 2}, 2.5});
  CHECK_FALSE(stops(*median, {9, {1, 3}, -1}));  // the best score of trial 9 counts
  CHECK_FALSE(stops(*median, {1, {1, 4}, -1}));  // only two other trials have reached this report; three are required
}

TEST_CASE("invalid options of schedulers are errors") {
  CHECK_THROWS_WITH(open("asha", {{"grace_period", "50"}, {"max_t", "10"}}), Catch::Contains("is more than max_t"));
  CHECK_THROWS_WITH(open("asha", {{"reduction_factor", "1"}}), Catch::Contains("reduction_factor"));
  CHECK_THROWS_WITH(open("asha", {{"max", "1"}}), Catch::Contains("max"));
}
