// Tests of SpeedWatch, with ranks as threads that sleep instead of working.
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "support/cpp/ranks.hpp"
#include "support/cpp/scratch.hpp"
#include "support/cpp/slow_ranks.hpp"

using namespace trainrt;
using namespace trainrt::test;
using trainer::SpeedWatch;
using watch::Work;
using Json = nlohmann::json;

namespace {

constexpr int ranks = 4;

/// Returns the finding of rank 0 after `steps` steps. All ranks must find the same.
std::optional<SpeedWatch::Finding> found_after(int steps, const SleepingRank::Plan& plan, const std::string& log) {
  std::mutex mutex;
  std::vector<std::optional<SpeedWatch::Finding>> found;
  std::vector<std::string> texts;
  run_ranks(ranks, [&](Communicator& inner) {
    SleepingRank rank(plan, inner, log);
    for (int step = 1; step <= steps; ++step) rank.step(step);
    const std::lock_guard lock(mutex);
    found.push_back(rank.watch().finding());
    if (found.back()) texts.push_back(rank.watch().text_of(*found.back()));
  });
  for (const auto& each : found) {
    REQUIRE(each.has_value() == found[0].has_value());
    if (each) REQUIRE((each->slow.rank == found[0]->slow.rank && each->slow.work == found[0]->slow.work));
  }
  for (const auto& text : texts) REQUIRE(text == texts[0]);
  return found[0];
}

/// Returns the finding after `steps` steps. Other processes of the machine can slow a rank down: until `is_expected`
/// accepts the finding, the measurement is repeated, up to four times, each time with steps that are twice as long and less
/// disturbed.
template <class Expectation>
std::optional<SpeedWatch::Finding> measured(int steps, SleepingRank::Plan plan, const std::string& log,
                                            Expectation is_expected) {
  for (;; plan.scale *= 2) {
    std::filesystem::remove(log);
    const auto found = found_after(steps, plan, log);
    if (plan.scale == 16 || is_expected(found)) return found;
  }
}

std::vector<Json> lines_of(const std::string& path) {
  std::vector<Json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

}  // namespace

TEST_CASE("a rank that needs 20 % more time for input, forward, backward or save is found after 50 steps") {
  const Scratch scratch;
  const std::map<Work, double> fifth = {{Work::input, 1.2}, {Work::forward, 1.2}, {Work::backward, 1.2}, {Work::save, 12}};
  int at = 1;
  for (const auto& [work, more] : fifth) {
    SleepingRank::Plan plan;
    plan.rank = at = (at + 1) % ranks;
    plan.planted = work;
    plan.more = more;
    INFO(name_of(work) << " on rank " << at);
    const auto log = scratch / fmt::format("logs/steps-{}.jsonl", name_of(work));
    // The first step includes the start and does not count. bench_see.py counts how often noise hides the rank.
    const auto found = measured(51, plan, log, [&](const auto& finding) {
      return finding && static_cast<int>(finding->slow.rank) == plan.rank && finding->slow.work == work &&
             finding->slow.ratio > 1.12 && finding->slow.ratio < 1.6;
    });
    REQUIRE(found);
    CHECK(static_cast<int>(found->slow.rank) == plan.rank);
    CHECK(found->slow.work == work);
    CHECK(found->steps == 50);
    CHECK(found->slow.ratio > 1.12);
    CHECK(found->slow.ratio < 1.6);
    const auto lines = lines_of(log);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["step"] == 51);
    CHECK(lines[0]["steps"] == 50);
    CHECK(lines[0]["own_us"].size() == ranks);
    CHECK(lines[0]["slow"]["rank"] == plan.rank);
    CHECK(lines[0]["slow"]["work"] == std::string(name_of(work)));
  }
}

TEST_CASE("no slow rank is found if all ranks take the same time") {
  const Scratch scratch;
  const auto log = scratch / "logs/steps.jsonl";
  CHECK_FALSE(measured(151, {}, log, [](const auto& finding) { return !finding; }));
  const auto line = lines_of(log).at(0);
  CHECK(line["work_us"]["input"].get<int>() >= 1000);
  CHECK(line["work_us"]["forward"].get<int>() >= 1500);
  CHECK(line["work_us"]["backward"].get<int>() >= 1500);
  CHECK(line["work_us"]["save"].get<int>() >= 1000);
}

TEST_CASE("the time that ranks wait for the slow rank does not count as their own work") {
  const Scratch scratch;
  SleepingRank::Plan plan;
  plan.rank = 3;
  plan.more = 6;
  const auto log = scratch / "logs/steps.jsonl";
  const auto own_ms = [&](int rank) {
    return lines_of(log).at(0)["own_us"].at(static_cast<std::size_t>(rank)).get<double>() / 1000;
  };
  const auto waits_ms = [&](int rank) {
    return lines_of(log).at(0)["waits_us"].at(static_cast<std::size_t>(rank)).get<double>() / 1000;
  };
  REQUIRE(measured(51, plan, log,
                   [&](const auto& finding) { return finding && own_ms(0) + own_ms(1) + own_ms(2) < 2 * own_ms(3); }));
  // The fast ranks wait for most of the additional time. Their own work is about half of that of the slow rank.
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(waits_ms(rank) > 4);
    CHECK(own_ms(rank) < 0.9 * own_ms(3));
  }
  CHECK(own_ms(3) > 9.5);
}

TEST_CASE("the steps of a single rank are measured, and the rank is never slow") {
  const Scratch scratch;
  const SleepingRank::Plan plan;
  run_ranks(1, [&](Communicator& inner) {
    SleepingRank rank(plan, inner, scratch / "logs/steps.jsonl");
    for (int step = 1; step <= 51; ++step) rank.step(step);
    CHECK_FALSE(rank.watch().finding());
  });
  CHECK(lines_of(scratch / "logs/steps.jsonl").at(0)["own_us"].size() == 1);
}

TEST_CASE("slow ranks are found even if the log cannot be written") {
  const Scratch scratch;
  std::ofstream(scratch / "logs") << "a file instead of the folder";
  SleepingRank::Plan plan;
  plan.rank = 1;
  plan.more = 3;
  CHECK(found_after(51, plan, scratch / "logs/steps.jsonl"));
}
