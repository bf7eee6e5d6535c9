// Tests of how slow ranks are found from windows of steps.
#include "watch/step_times.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::watch;
using Catch::Matchers::Contains;

namespace {

StepTime step_of(float input, float forward, float backward, float waits = 0) {
  StepTime step;
  step.of(Work::input) = input;
  step.of(Work::forward) = forward;
  step.of(Work::backward) = backward;
  step.waits = waits;
  return step;
}

WindowTimes window_of(std::vector<StepTime> steps) { return WindowMaker().window_of(steps); }

/// Returns a window of 50 steps with 1, 2 and 2 ms of work, times `factor`, as on a shared machine: the times vary by a
/// twentieth, and one step in ten is interrupted for up to 20 ms.
WindowTimes noisy_window(std::mt19937& random, std::array<float, 3> factor = {1, 1, 1}) {
  std::normal_distribution<float> vary(1, 0.05F);
  std::uniform_real_distribution<float> interrupted(0, 0.02F), is_interrupted(0, 1);
  std::vector<StepTime> steps;
  for (int step = 0; step < 50; ++step) {
    const float late = is_interrupted(random) < 0.1F ? interrupted(random) : 0;
    steps.push_back(step_of(0.001F * factor[0] * vary(random), 0.002F * factor[1] * vary(random) + late,
                            0.002F * factor[2] * vary(random)));
  }
  return WindowMaker().window_of(steps);
}

std::vector<WindowTimes> same_ranks(std::size_t count) {
  return std::vector<WindowTimes>(count, window_of(std::vector(50, step_of(0.001F, 0.002F, 0.002F, 0.001F))));
}

}  // namespace

TEST_CASE("a window has the medians of its steps, which one slow step does not change") {
  std::vector steps(50, step_of(1, 2, 3, 4));
  steps[7] = step_of(100, 100, 100, 100);
  const auto window = window_of(steps);
  CHECK(window.of(Work::input) == 1);
  CHECK(window.of(Work::forward) == 2);
  CHECK(window.of(Work::backward) == 3);
  CHECK(window.own == 6);
  CHECK(window.waits == 4);
  CHECK(window.spread == 0);
  CHECK(window.steps == 50);
  CHECK(window_of({}).steps == 0);
}

TEST_CASE("saves count as their median's share of a step, also in windows without saves; own time excludes reports") {
  std::vector steps(50, step_of(1, 1, 1));
  for (const std::size_t saved : {5U, 15U, 25U}) steps[saved].of(Work::save) = 5;
  steps[25].of(Work::save) = 1000;  // one slow save
  for (auto& step : steps) step.of(Work::report) = 7;
  WindowMaker maker;
  auto copy = steps;
  const auto window = maker.window_of(copy);
  CHECK(window.of(Work::save) == Approx(3 * 5 / 50.0));
  CHECK(window.of(Work::report) == 7);
  CHECK(window.own == Approx(3 + 0.3));
  std::vector without(50, step_of(1, 1, 1));
  CHECK(maker.window_of(without).of(Work::save) == Approx(0.3));
}

TEST_CASE("the slowest rank is named with the work in which it loses most") {
  for (const auto work : {Work::input, Work::forward, Work::backward, Work::save}) {
    auto ranks = same_ranks(4);
    ranks[2].work[static_cast<std::size_t>(work)] += 0.001F;
    ranks[2].own += 0.001F;
    const auto slow = slow_rank_in(ranks);
    REQUIRE(slow);
    CHECK(slow->rank == 2);
    CHECK(slow->work == work);
    CHECK(slow->ratio == Approx(1.2));
  }
}

TEST_CASE(
    "no rank is named if it is slower by less than a tenth, than the variation, than a fiftieth of a step or than half a "
    "millisecond, or is alone") {
  CHECK_FALSE(slow_rank_in(same_ranks(4)));
  CHECK_FALSE(slow_rank_in(same_ranks(1)));
  CHECK_FALSE(slow_rank_in({}));
  auto ranks = same_ranks(4);
  ranks[1].own *= 1.09F;
  CHECK_FALSE(slow_rank_in(ranks));
  ranks[1].own = ranks[0].own * 1.2F;
  CHECK(slow_rank_in(ranks));
  ranks[1].spread = 0.002F;
  CHECK_FALSE(slow_rank_in(ranks));
  ranks[1].spread = 0;
  ranks[1].waits = 0.2F;  // all wait for something else
  CHECK_FALSE(slow_rank_in(ranks));
  ranks[1].waits = 0;
  ranks[1].mean = 0.051F;  // reports and saves take ten times as long as a step
  CHECK_FALSE(slow_rank_in(ranks));
  for (auto& rank : ranks) rank.own = 0.0001F, rank.mean = 0.001F;
  ranks[1].own = 0.0004F;  // four times as long, but only 0.3 ms
  CHECK_FALSE(slow_rank_in(ranks));
}

TEST_CASE("rank 0, which commits the checkpoints, is not named for its saves") {
  auto ranks = same_ranks(4);
  ranks[0].work[static_cast<std::size_t>(Work::save)] += 0.002F;
  ranks[0].own += 0.002F;
  CHECK_FALSE(slow_rank_in(ranks));
}

TEST_CASE("of two ranks the slower one is named") {
  auto ranks = same_ranks(2);
  ranks[1].own *= 1.5F;
  REQUIRE(slow_rank_in(ranks));
  CHECK(slow_rank_in(ranks)->rank == 1);
  CHECK(slow_rank_in(ranks)->ratio == Approx(1.5));
}

TEST_CASE("a fifth more of any work is found in every window of 50 noisy steps, and nothing in 1,000 normal ones") {
  std::mt19937 random(7);
  for (int round = 0; round < 1000; ++round) {
    std::vector<WindowTimes> ranks;
    for (int rank = 0; rank < 4; ++rank) ranks.push_back(noisy_window(random));
    REQUIRE_FALSE(slow_rank_in(ranks));
  }
  const std::array<Work, 3> works = {Work::input, Work::forward, Work::backward};
  for (int round = 0; round < 300; ++round) {
    const auto planted = static_cast<std::size_t>(round) % 3, at = static_cast<std::size_t>(round) % 4;
    std::array<float, 3> factor = {1, 1, 1};
    factor[planted] += planted == 0 ? 1.0F : 0.5F;  // a fifth of the step's 5 ms
    std::vector<WindowTimes> ranks;
    for (std::size_t rank = 0; rank < 4; ++rank)
      ranks.push_back(rank == at ? noisy_window(random, factor) : noisy_window(random));
    const auto slow = slow_rank_in(ranks);
    REQUIRE(slow);
    REQUIRE(slow->rank == at);
    REQUIRE(slow->work == works[planted]);
  }
}

TEST_CASE("conditions of a node are reasons only if they explain slowness, and names of processes are escaped") {
  CHECK(reasons_in({}).empty());
  NodeFacts facts;
  facts.clock_ghz = 3.0F;
  facts.full_clock_ghz = 3.1F;
  facts.preempted = 3;
  facts.celsius = 90;
  CHECK(reasons_in(facts).empty());
  facts.clock_ghz = 1.2F;
  facts.throttled = 4;
  CHECK(reasons_in(facts) == "; clock 1.2 GHz of 3.1; its CPU is throttled, at 90 degrees Celsius");
  facts = {};
  facts.stolen = 0.3F;
  facts.swapped = 500;
  facts.major_faults = 70;
  facts.remote_memory = 0.6F;
  facts.preempted = 100;
  CHECK(reasons_in(facts) ==
        "; the hypervisor took 30 % of the node's CPU time; other processes interrupted the rank 100 times per second; "
        "the node reads 500 pages per second from its swap; 70 pages per second were read from disk (major page faults); "
        "60 % of "
        "the rank's memory is on another NUMA node");
  facts = {};
  facts.other_share = 0.4F;
  facts.other = {'b', 'a', '\x1b', 'd'};
  CHECK_THAT(reasons_in(facts), Contains("the process 'ba\\x1bd' took 40 % of the rank's CPU"));
}
