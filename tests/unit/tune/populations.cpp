// Tests of schedulers with trials that wait for each other or become clones. The decisions are compared with those of
// reference implementations, which were written from Ray Tune's hyperband.py and pbt.py.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "tune/search/scheduler.hpp"

using namespace trainrt;
using namespace trainrt::tune;

namespace {

using Kind = Verdict::Kind;

std::unique_ptr<Scheduler> open(const std::string& name, const std::map<std::string, std::string>& keys,
                                std::uint64_t trials) {
  const auto& kind = find_plugin(scheduler_table(), name, "scheduler");
  Options options;
  for (const auto& [key, value] : keys) options.set(key, {value, "tune.ini:3"});
  return kind.open(checked(options, kind.options, "[tune." + name + "]"), {5, trials});
}

/// Reference for hyperband.py of Ray 2.60: trials fill brackets in turn. The trials of a bracket make r reports; then all
/// but the best n are stopped. Returns the number of reports of each trial, if trial t has the score scores[t] at all its
/// reports.
std::vector<std::int64_t> reference_hyperband(const std::vector<double>& scores, std::int64_t most, double eta) {
  const int kinds = static_cast<int>(std::round(std::log(most) / std::log(eta))) + 1;
  std::vector<std::int64_t> reports(scores.size());
  std::size_t next = 0;
  for (int s = 0; next < scores.size(); s = (s + 1) % kinds) {
    auto n = std::ceil(kinds / (s + 1.0) * std::pow(eta, s));
    auto r = std::floor(static_cast<double>(most) * std::pow(eta, -s));
    if (r == 0) continue;  // "Bracket too small"
    std::vector<std::size_t> live;
    for (; live.size() < static_cast<std::size_t>(n) && next < scores.size(); ++next) live.push_back(next);
    for (int halves = s; halves > 0; --halves) {
      for (const auto trial : live) reports[trial] = static_cast<std::int64_t>(r);
      r = std::floor(std::min(r * eta, static_cast<double>(most)));
      n = std::ceil(n / eta);
      std::ranges::sort(live, {}, [&](auto trial) { return scores[trial]; });
      if (live.size() > static_cast<std::size_t>(n)) live.erase(live.begin(), live.end() - static_cast<std::ptrdiff_t>(n));
    }
    for (const auto trial : live) reports[trial] = static_cast<std::int64_t>(r);
  }
  return reports;
}

/// Runs all trials, each until its verdict, and asks repeatedly about paused trials. Returns the number of reports.
std::vector<std::int64_t> played_hyperband(Scheduler& scheduler, const std::vector<double>& scores, std::uint64_t seed) {
  Random random(seed, 0);
  std::vector<std::int64_t> reports(scores.size());
  std::set<std::uint64_t> running, paused;
  for (std::uint64_t trial = 0; trial < scores.size(); ++trial) running.insert(trial);
  while (!running.empty() || !paused.empty()) {
    for (auto trial = paused.begin(); trial != paused.end();) {
      const auto kind = scheduler.verdict_on_paused(*trial).kind;
      if (kind == Kind::go_on) running.insert(*trial);
      trial = kind == Kind::pause ? std::next(trial) : paused.erase(trial);
    }
    REQUIRE((!running.empty() || paused.empty()));  // all would wait for each other
    if (running.empty()) break;
    const auto one = *std::next(running.begin(), static_cast<std::ptrdiff_t>(random.below(running.size())));
    const TrialReport report{one, {1, ++reports[one]}, scores[one]};
    if (!scheduler.wants(one, report.at.iteration)) continue;
    const auto verdict = scheduler.verdict(report);
    scheduler.observe(report);
    if (verdict.kind != Kind::go_on) running.erase(one);
    if (verdict.kind == Kind::pause) paused.insert(one);
  }
  return reports;
}

std::vector<SearchSpace::Dimension> dimensions(const std::map<std::string, std::string>& keys) {
  Options space;
  for (const auto& [key, value] : keys) space.set(key, {value, "tune.ini:9"});
  return SearchSpace(space).dimensions();
}

}  // namespace

TEST_CASE("hyperband lets each trial run as far as the reference, in any order of reports") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const std::size_t trials = 20 + 13 * seed;
    const std::int64_t most = seed % 2 == 0 ? 27 : 20;
    INFO("seed " << seed);
    Random random(seed, 1);
    std::vector<double> scores;
    for (std::size_t i = 0; i < trials; ++i) scores.push_back(random.uniform());
    const auto hyperband = open("hyperband", {{"max_t", std::to_string(most)}}, trials);
    CHECK(played_hyperband(*hyperband, scores, seed) == reference_hyperband(scores, most, 3));
  }
}

TEST_CASE("a bracket of hyperband does not wait for a trial that is done") {
  const auto hyperband =
      open("hyperband", {{"max_t", "9"}}, 8);  // trials 3 to 7 are a bracket: 3 reports, and then 9 for two
  for (std::uint64_t trial = 3; trial <= 6; ++trial) {
    CHECK(hyperband->verdict({trial, {1, 3}, static_cast<double>(trial)}).kind == Kind::pause);
    hyperband->observe({trial, {1, 3}, static_cast<double>(trial)});
  }
  CHECK(hyperband->verdict_on_paused(6).kind == Kind::pause);
  hyperband->forget(7);
  CHECK(hyperband->verdict_on_paused(6).kind == Kind::go_on);
  CHECK(hyperband->verdict_on_paused(5).kind == Kind::go_on);
  CHECK(hyperband->verdict_on_paused(4).kind == Kind::stop);
  hyperband->forget(6);  // it failed later, and no other trial replaces it
  CHECK(hyperband->verdict_on_paused(4).kind == Kind::stop);
}

TEST_CASE("population based training clones like the reference") {
  const auto pbt = open("pbt", {{"perturbation_interval", "4"}}, 9);
  CHECK(pbt->wants(0, 8));
  CHECK_FALSE(pbt->wants(0, 9));
  Random random(3, 0);
  std::map<std::uint64_t, double> last;
  int clones = 0;
  for (int turn = 0; turn < 400; ++turn) {
    const auto trial = random.below(9);
    const TrialReport report{trial, {1, 4 * (1 + turn / 9)}, std::round(1000 * random.uniform())};
    last[trial] = report.score;
    std::vector<std::pair<double, std::uint64_t>> sorted;
    for (const auto& [number, score] : last) sorted.emplace_back(score, number);
    std::ranges::sort(sorted);
    auto count = static_cast<std::size_t>(std::ceil(static_cast<double>(sorted.size()) * 0.25));
    if (sorted.size() < 2) count = 0;
    if (static_cast<double>(count) > static_cast<double>(sorted.size()) / 2) count = sorted.size() / 2;
    std::set<std::uint64_t> lower, upper;
    for (std::size_t i = 0; i < count; ++i) {
      lower.insert(sorted[i].second);
      upper.insert(sorted[sorted.size() - 1 - i].second);
    }
    const auto verdict = pbt->verdict(report);
    pbt->observe(report);
    INFO("turn " << turn);
    CHECK((verdict.kind == Kind::clone) == lower.contains(trial));
    if (verdict.kind == Kind::clone) CHECK(upper.contains(verdict.donor));
    if (verdict.kind == Kind::clone) ++clones;
    CHECK(verdict == pbt->verdict(report));  // a pure function
  }
  CHECK(clones > 50);
}

TEST_CASE("no trial becomes the clone of a trial that is done, and a single trial is never a clone") {
  const auto pbt = open("pbt", {{"perturbation_interval", "1"}}, 4);
  CHECK(pbt->verdict({0, {1, 1}, -5}).kind == Kind::go_on);
  for (std::uint64_t trial = 0; trial < 4; ++trial) pbt->observe({trial, {1, 1}, static_cast<double>(trial)});
  CHECK(pbt->verdict({0, {1, 2}, -5}) == Verdict{Kind::clone, 3});
  pbt->forget(3);
  CHECK(pbt->verdict({0, {1, 2}, -5}) == Verdict{Kind::clone, 2});
}

namespace {

/// Runs `trials` trials to report `last`, in a random order, and asks repeatedly about paused trials. Returns the clones as
/// {(trial, report) : donor}. Checks that no trial passes a comparison before all trials have reached it.
std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t> played_synch(Scheduler& scheduler, std::uint64_t trials,
                                                                             std::int64_t last, std::uint64_t seed) {
  Random random(seed, 0);
  std::vector<ReportPosition> at(trials, {1, 0});
  std::vector<std::int64_t> reached(trials);
  std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t> clones;
  std::set<std::uint64_t> live, paused;
  for (std::uint64_t trial = 0; trial < trials; ++trial) live.insert(trial);
  const auto continues = [&](std::uint64_t trial, const Verdict& verdict) {
    CHECK(*std::ranges::min_element(reached) >= at[trial].iteration);
    if (verdict.kind != Kind::clone) return;
    clones[{trial, at[trial].iteration}] = verdict.donor;
    scheduler.observe_cloning(trial, at[trial]);
    at[trial] = {at[trial].generation + 1, at[trial].iteration - static_cast<std::int64_t>(random.below(2))};
  };
  while (!live.empty()) {
    const auto one = *std::next(live.begin(), static_cast<std::ptrdiff_t>(random.below(live.size())));
    if (paused.contains(one)) {
      const auto verdict = scheduler.verdict_on_paused(one);
      if (verdict.kind == Kind::pause) continue;
      paused.erase(one);
      continues(one, verdict);
      continue;
    }
    if (++at[one].iteration > last) {
      scheduler.forget(one);
      live.erase(one);
      reached[one] = last;
      continue;
    }
    const TrialReport report{one, at[one],
                             static_cast<double>((7 * one + 3 * static_cast<std::uint64_t>(at[one].iteration)) % 11)};
    if (!scheduler.wants(one, report.at.iteration)) continue;
    reached[one] = std::max(reached[one], report.at.iteration);
    const auto verdict = scheduler.verdict(report);
    scheduler.observe(report);
    if (verdict.kind == Kind::pause) paused.insert(one);
    if (verdict.kind != Kind::pause) continues(one, verdict);
  }
  return clones;
}

}  // namespace

TEST_CASE(
    "trials of synchronous population based training wait for each other, and the clones do not depend on the order") {
  std::set<std::map<std::pair<std::uint64_t, std::int64_t>, std::uint64_t>> seen;
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    seen.insert(played_synch(*open("pbt", {{"perturbation_interval", "4"}, {"synch", "true"}}, 8), 8, 13, seed));
  REQUIRE(seen.size() == 1);
  CHECK(seen.begin()->size() == 6);  // a quarter of the trials at the reports 4, 8 and 12
}

TEST_CASE(
    "synchronous population based training does not wait for a trial that is done, and clones a trial once per report") {
  const auto pbt = open("pbt", {{"perturbation_interval", "2"}, {"synch", "true"}}, 3);
  for (std::uint64_t trial = 0; trial < 2; ++trial) {
    CHECK(pbt->verdict({trial, {1, 2}, static_cast<double>(trial)}).kind == Kind::pause);
    pbt->observe({trial, {1, 2}, static_cast<double>(trial)});
  }
  CHECK(pbt->verdict_on_paused(0).kind == Kind::pause);
  pbt->forget(2);
  CHECK(pbt->verdict_on_paused(0) == Verdict{Kind::clone, 1});
  CHECK(pbt->verdict_on_paused(1).kind == Kind::pause);  // until trial 0 has its checkpoint
  pbt->observe_cloning(0, {1, 2});
  CHECK(pbt->verdict_on_paused(0).kind == Kind::go_on);
  CHECK(pbt->verdict_on_paused(1).kind == Kind::go_on);
  CHECK(pbt->verdict({0, {2, 2}, -1}).kind == Kind::go_on);  // its donor's checkpoint was older than the report
  pbt->observe({0, {2, 2}, -1});
  CHECK(pbt->verdict_on_paused(0).kind == Kind::go_on);
  CHECK(pbt->verdict_on_paused(2).kind == Kind::go_on);  // it has no reports
}

TEST_CASE("values of a clone are near its donor's or drawn, within the domain") {
  const auto domains =
      dimensions({{"lr", "loguniform(1e-4, 1e-1)"}, {"size", "randint(8, 64)"}, {"kind", "choice(a, b, c)"}});
  const Params donor{{"loop.lr", "0.05"}, {"loop.size", "20"}, {"loop.kind", "b"}, {"loop.epochs", "7"}};
  const auto never = open("pbt", {{"resample_probability", "0"}}, 4),
             always = open("pbt", {{"resample_probability", "1"}}, 4);
  std::set<std::string> rates, sizes, kinds, drawn;
  for (std::uint64_t trial = 0; trial < 100; ++trial) {
    const auto near = never->explored(donor, domains, trial, 2);
    rates.insert(near.at("loop.lr"));
    sizes.insert(near.at("loop.size"));
    kinds.insert(near.at("loop.kind"));
    CHECK(near.at("loop.epochs") == "7");
    CHECK(near == never->explored(donor, domains, trial, 2));
    drawn.insert(always->explored(donor, domains, trial, 2).at("loop.lr"));
  }
  CHECK(rates == std::set<std::string>{"0.04000000000000001", "0.06"});
  CHECK(sizes == std::set<std::string>{"16", "24"});
  CHECK(kinds == std::set<std::string>{"a", "c"});
  CHECK(drawn.size() == 100);
  const Params at_the_end{{"loop.lr", "0.1"}, {"loop.size", "63"}, {"loop.kind", "c"}};
  for (std::uint64_t trial = 0; trial < 20; ++trial) {
    const auto near = never->explored(at_the_end, domains, trial, 3);
    CHECK(std::set<std::string>{"0.08000000000000002", "0.1"}.contains(near.at("loop.lr")));
    CHECK(std::set<std::string>{"50", "63"}.contains(near.at("loop.size")));
    CHECK(std::set<std::string>{"b", "c"}.contains(near.at("loop.kind")));
  }
}

TEST_CASE("invalid options of populations are errors") {
  CHECK_THROWS_WITH(open("pbt", {{"perturbation_factors", "1.2, x"}}, 2), Catch::Contains("perturbation_factors has 'x'"));
  CHECK_THROWS_WITH(open("pbt", {{"quantile_fraction", "0.6"}}, 2), Catch::Contains("quantile_fraction"));
  CHECK_THROWS_WITH(open("hyperband", {{"reduction_factor", "1"}}, 2), Catch::Contains("reduction_factor"));
}

TEST_CASE("a clone multiplies a number of a sample by a factor, or draws one of the sample") {
  const Params donor{{"loop.lr", "10"}, {"loop.x", "0.5"}};
  const std::vector<SearchSpace::Dimension> mutated{{"loop.lr", domain_of("sample(10, 20)")},
                                                    {"loop.x", domain_of("sample(0.5)")}};
  const auto near = open("pbt", {{"resample_probability", "0"}}, 4)->explored(donor, mutated, 1, 2);
  CHECK((near.at("loop.lr") == "12" || near.at("loop.lr") == "8"));
  CHECK((near.at("loop.x") == "0.6" || near.at("loop.x") == "0.4"));
  const auto drawn = open("pbt", {{"resample_probability", "1"}}, 4)->explored(donor, mutated, 1, 2);
  CHECK((drawn.at("loop.lr") == "10" || drawn.at("loop.lr") == "20"));
}
