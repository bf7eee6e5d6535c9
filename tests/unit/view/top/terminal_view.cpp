// Tests of the output of `trainrt top`, and of how late ranks are found.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/text/display_width.hpp"
#include "core/text/text.hpp"
#include "view/top/live_run.hpp"
#include "view/top/terminal_view.hpp"

using namespace trainrt;
using namespace trainrt::view;
using Catch::Matchers::Contains;

namespace {

constexpr const char* noon = "2026-11-21T12:00:00Z";

rundir::RankStatus rank_at(std::int64_t step, const std::string& waits_in = "", double quiet_s = 0.1) {
  rundir::RankStatus rank;
  rank.host = "n1";
  rank.time = "2026-11-21T11:59:55Z";
  rank.step = step;
  rank.phase = "training";
  rank.waits_in = waits_in;
  rank.quiet_s = quiet_s;
  rank.rss = 2'500'000'000;
  return rank;
}

LiveStatus run_of(std::size_t ranks) {
  LiveStatus run;
  run.now = noon;
  run.run_dir = "/runs/demo";
  run.record.name = "demo";
  run.state = rundir::RunState::running;
  rundir::AttemptRecord attempt;
  attempt.number = 3;
  attempt.start = "2026-11-21T11:00:00Z";
  attempt.ranks = static_cast<int>(ranks);
  attempt.nodes = {"n1"};
  attempt.expected = 200;
  attempt.last_step = 812;
  run.attempts = {attempt};
  for (std::int64_t i = 1; i <= 50; ++i)
    run.reports.push_back({i, {{"loss", 1.0 / static_cast<double>(i)}, {"epoch", i}, {"_time_this_iter_s", 2.0}}});
  for (std::size_t i = 0; i < ranks; ++i) run.ranks.emplace_back(rank_at(812));
  return run;
}

std::string text_of(const LiveStatus& run, const Canvas& canvas = {}) { return join(terminal_view(run, canvas), "\n"); }

}  // namespace

TEST_CASE("the output has name, state, progress, rates, metrics and ranks") {
  auto run = run_of(2);
  run.forecast = rundir::Forecast{.training_s = 300, .runs = true};
  run.recent = {.seconds = 60, .steps = 219'000, .iterations = 30};
  const auto text = text_of(run);
  for (const auto* part :
       {"demo  running  attempt 3  2 ranks on 1 node  1:00:00", " 25%  iteration 50 of 200", "step 812",
        "  3,650 steps/s  2 s/iteration", "0:05:00 left", "loss", "0.02", "  0 . n1 training   step 812"})
    CHECK_THAT(text, Contains(part));
  CHECK_THAT(text, !Contains("epoch"));
}

TEST_CASE("between two attempts, the output has the next start and why the last attempt ended") {
  auto run = run_of(2);
  run.state = rundir::RunState::failed;
  auto& attempt = run.attempts.back();
  attempt.why = run.why = "failed: rank 1: no memory";
  attempt.exit_code = 70;
  attempt.end = "2026-11-21T11:59:58Z";
  attempt.owner.job_id = "4711";
  attempt.next_start = rundir::NextStart{.time = "2026-11-21T12:00:08Z", .restart = 2, .max_restarts = 3};
  for (const auto* part : {"demo  restarting  attempt 3", "attempt 4 starts in 8 s (restart 2 of 3)",
                           "attempt 3 ended: failed: rank 1: no memory"})
    CHECK_THAT(text_of(run), Contains(part));
  CHECK(run.restarting() != nullptr);
  run.now = "2026-11-21T12:00:20Z";
  CHECK_THAT(text_of(run), Contains("restarting") && Contains("attempt 4 is starting (restart 2 of 3)"));
  run.now = "2026-11-21T12:03:08Z";
  CHECK_THAT(text_of(run), Contains("demo  failed") && Contains("attempt 4 should have started 0:03:00 ago"));
  CHECK(run.restarting() == nullptr);
  run.state = rundir::RunState::stopped;
  attempt.next_start = rundir::NextStart{.time = "2026-11-21T12:00:08Z", .requeued = true};
  CHECK_THAT(text_of(run), Contains("demo  requeued") &&
                               Contains("attempt 4 starts when Slurm starts job 4711 again (requeued 0:03:00 ago)"));
  run.state = rundir::RunState::finished;
  CHECK_THAT(text_of(run), Contains("demo  finished") && !Contains("attempt 4"));
}

TEST_CASE("a run that has ended has neither a rate nor its state twice") {
  auto run = run_of(1);
  run.usage = {
      .memory = 1 << 30, .peak_memory = 2.0 * (1 << 30), .cpus = 0, .cpus_allowed = 4, .read_rate = 0, .write_rate = 0};
  CHECK_THAT(text_of(run), Contains("CPU 0.0 of 4") && Contains("read 0 B/s"));
  run.state = rundir::RunState::finished;
  run.why = "finished";
  const auto text = text_of(run);
  CHECK_THAT(text, Contains("\npeak memory 2.0 GiB\n") && !Contains("CPU") && !Contains("B/s"));
  CHECK(text.find("finished") == text.rfind("finished"));
}

TEST_CASE("an attempt that waits for its start after a failure is shown as restarting") {
  auto run = run_of(2);
  auto failed = run.attempts.back();
  failed.end = "2026-11-21T11:59:58Z";
  failed.why = "failed: rank 1: no memory";
  failed.exit_code = 70;
  failed.next_start = rundir::NextStart{.time = "2026-11-21T12:00:02Z", .restart = 1, .max_restarts = 3};
  run.attempts.insert(run.attempts.begin(), failed);
  run.attempts.back().number = 4;
  CHECK_THAT(text_of(run), Contains("demo  restarting  attempt 4") &&
                               Contains("attempt 4 starts in 2 s (restart 1 of 3)") &&
                               Contains("attempt 3 ended: failed: rank 1: no memory"));
  run.now = "2026-11-21T12:00:03Z";
  CHECK_THAT(text_of(run), Contains("demo  running  attempt 4") && !Contains("no memory"));
}

TEST_CASE("the step of a rank has the age of the rank's record") {
  auto run = run_of(2);
  run.ranks[1]->time = "2026-11-21T11:58:00Z";
  CHECK_THAT(text_of(run), Contains("0 . n1 training   step 812  5 s ago") && Contains("step 812  0:02:00 ago"));
  CHECK_THAT(text_of(run_of(500)), Contains("training 500   records 5 to 5 s old"));
  run.state = rundir::RunState::failed;
  CHECK_THAT(text_of(run), !Contains(" ago"));
}

TEST_CASE("the output fits the canvas, for any names") {
  for (const std::size_t ranks : {0, 4, 200, 5000})
    for (const auto& canvas : {Canvas{80, 24}, Canvas{300, 80}, Canvas{20, 8}, Canvas{2, 2}, Canvas{40, 5}}) {
      auto run = run_of(ranks);
      run.record.name = "学習🙂\x1b[2J\n" + std::string(400, 'x');
      for (auto& report : run.reports) report.values.emplace_back("🙂/" + std::string(300, 'y'), 1.5);
      for (int i = 0; i < 30; ++i) run.events.push_back({noon, "学" + std::string(500, 'z'), true});
      for (std::size_t i = 0; i < ranks; ++i) run.late.push_back({i, "no status update"});
      const auto lines = terminal_view(run, canvas);
      INFO(ranks << " ranks, " << canvas.columns << "x" << canvas.rows);
      CHECK(lines.size() <= canvas.rows);
      for (const auto& line : lines) {
        CHECK(display_width(line) <= canvas.columns);
        CHECK(line.find('\x1b') == std::string::npos);
      }
    }
}

TEST_CASE("colors and characters beyond ASCII are optional") {
  const auto run = run_of(2);
  CHECK_THAT(text_of(run, {.in_color = true}), Contains("\x1b[32mrunning\x1b[0m"));
  const auto ascii = text_of(run, {.is_utf8 = false});
  CHECK(std::ranges::all_of(ascii, [](char c) { return static_cast<unsigned char>(c) < 0x80; }));
}

TEST_CASE("a spark line shows values between minimum and maximum, and leaves out values that are not finite") {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(spark_line(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, 20, true) == "▁▂▃▄▅▆▇█");
  CHECK(spark_line(std::vector<double>{0, nan, 7}, 20, true) == "▁ █");
  CHECK(spark_line(std::vector<double>{nan, INFINITY}, 20, true) == "  ");
  CHECK(spark_line(std::vector<double>{3, 3}, 20, false) == "~~");
  CHECK(spark_line(std::vector<double>{0, 2, 9, 11}, 2, true) == "▁█");
  CHECK(spark_line({}, 20, true).empty());
}

TEST_CASE("a rank with an old record gives no sign of life, and is named first") {
  std::vector<std::optional<rundir::RankStatus>> ranks = {rank_at(5, "all-reduce", 50), rank_at(5, "all-reduce", 51),
                                                          rank_at(4), std::nullopt};
  ranks[2]->time = "2026-11-21T11:58:00Z";
  const auto late = late_ranks(ranks, noon);
  REQUIRE(late.size() == 1);
  CHECK(late[0].rank == 2);
  CHECK_THAT(late[0].why, Contains("no status update for 0:02:00") && Contains("step 4, 1 step behind"));
}

TEST_CASE("the others wait for a rank that does not wait itself") {
  std::vector<std::optional<rundir::RankStatus>> ranks = {rank_at(5, "all-reduce", 9), rank_at(4, "", 9),
                                                          rank_at(5, "all-reduce", 9)};
  const auto late = late_ranks(ranks, noon);
  REQUIRE(late.size() == 1);
  CHECK(late[0].rank == 1);
  CHECK_THAT(late[0].why, Contains("the others wait for it") && Contains("1 step behind"));
  SECTION("but not if it has ended, if all ranks work, or if the waits are short") {
    ranks[1]->ended = true;
    CHECK(late_ranks(ranks, noon).empty());
    CHECK(late_ranks(std::vector<std::optional<rundir::RankStatus>>{rank_at(5), rank_at(5), rank_at(5)}, noon).empty());
    CHECK(late_ranks(std::vector<std::optional<rundir::RankStatus>>{rank_at(5, "all-reduce", 0.3), rank_at(5)}, noon)
              .empty());
  }
}

TEST_CASE("a rank that was frozen while it waited is named when its record becomes old") {
  std::vector<std::optional<rundir::RankStatus>> ranks(4, rank_at(5, "all-reduce", 14));
  ranks[3]->time = "2026-11-21T11:59:43Z";
  REQUIRE(late_ranks(ranks, noon).size() == 1);
  CHECK(late_ranks(ranks, noon)[0].rank == 3);
}

TEST_CASE("equally old records are normal, since the ranks of a large run write them less often") {
  std::vector<std::optional<rundir::RankStatus>> ranks(3, rank_at(5));
  for (auto& rank : ranks) rank->time = "2026-11-21T11:59:00Z";
  CHECK(late_ranks(ranks, noon).empty());
}

TEST_CASE("many ranks have a character each, by node if the nodes fit, and late ranks stay visible") {
  auto run = run_of(64);
  for (std::size_t i = 0; i < 64; ++i) run.ranks[i]->host = fmt::format("n{}", i / 16);
  run.late = {{17, "the others wait for it"}};
  auto text = text_of(run);
  CHECK_THAT(text, Contains("n0 ................   n1 .!.............."));
  CHECK_THAT(text, Contains("rank 17 (n1): the others wait for it") && Contains("! late 1   . training 63"));
  run = run_of(5000);
  for (std::size_t i = 0; i < 5000; ++i) run.ranks[i]->host = fmt::format("node-with-a-long-name-{}", i / 4);
  run.late = {{4321, "no status update"}};
  text = text_of(run);
  CHECK(std::ranges::count(text, '!') == 2);  // in the grid, and in the legend
  CHECK_THAT(text, Contains("rank 4321 (node-with-a-long-name-1080): no status update"));
}

TEST_CASE("a run that has ended shows the reason, and no late ranks") {
  auto run = run_of(2);
  run.state = rundir::RunState::failed;
  run.why = "failed: rank 1: out of memory\nand more";
  run.steps = StepWindow{};
  run.steps->slow = StepWindow::Slow{.rank = 1, .work = "input", .ratio = 1.19};
  const auto text = text_of(run);
  CHECK_THAT(text, Contains("failed: rank 1: out of memory\n"));
  CHECK_THAT(text, !Contains("19 % slower") && !Contains("/s"));
}

TEST_CASE("the rates are those of the last minute, or of the attempt so far if it was read only once") {
  rundir::AttemptRecord attempt;
  attempt.number = 2;
  attempt.first_step = 1000, attempt.first_iteration = 10;
  ProgressWindow window;
  const auto take = [&](double trained_s, std::int64_t step, std::int64_t iteration) {
    attempt.timing = {.startup_s = 7, .steps_s = trained_s - 1, .checkpoint_s = 1};
    attempt.last_step = step, attempt.iteration = iteration;
    const auto recent = window.take(attempt);
    return std::array{recent.seconds, recent.steps, recent.iterations};
  };
  CHECK(take(600, 7000, 70) == std::array{600.0, 6000.0, 60.0});
  CHECK(take(630, 7060, 72) == std::array{630.0, 6060.0, 62.0});
  CHECK(take(660, 7120, 74) == std::array{60.0, 120.0, 4.0});
  CHECK(take(660, 7120, 74) == std::array{60.0, 120.0, 4.0});  // no newer heartbeat
  CHECK(take(690, 7120, 74) == std::array{60.0, 60.0, 2.0});   // no progress for 30 s
  attempt.number = 3;
  attempt.first_step = 7120, attempt.first_iteration = 74;
  CHECK(take(10, 7220, 75) == std::array{10.0, 100.0, 1.0});
}

TEST_CASE("a metric of the maximum width is separated from its name") {
  auto run = run_of(1);
  run.reports.back().values = {{"loss", -0.000010605}, {"a_name_that_is_quite_long", 0.00010605}};
  const auto text = text_of(run);
  CHECK_THAT(text, Contains("loss" + std::string(22, ' ') + "-1.0605e-05 "));
  CHECK_THAT(text, Contains("a_name_that_is_quite_long  0.00010605 "));
}

TEST_CASE("a slow rank is described with the reason") {
  CHECK(slow_rank_text({.rank = 1, .work = "input", .ratio = 1.19, .why = "clock 1.2 GHz"}) ==
        "19 % slower than the median in input: clock 1.2 GHz");
  CHECK(slow_rank_text({.rank = 1, .work = "input", .ratio = NAN}) == "slower than the median in input");
}
