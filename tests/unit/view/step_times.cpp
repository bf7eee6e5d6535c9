// What is read of the files that ranks and step times are kept in, and how many ranks become a picture.
#include <cmath>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "rundir/records/rank_status.hpp"
#include "support/cpp/scratch.hpp"
#include "view/curves/step_history.hpp"
#include "view/page/heat_map.hpp"
#include "view/page/rank_times.hpp"
#include "view/page/step_charts.hpp"
#include "view/summary/file_lines.hpp"
#include "view/summary/last_words.hpp"
#include "view/top/rank_lines.hpp"

using namespace trainrt;
using namespace trainrt::view;
using namespace trainrt::view::page;
using Catch::Matchers::Contains;
using test::Scratch;

namespace {

/// Ten windows of `ranks` ranks at 1000 µs; rank `slow` takes half as long again, rank `late` twice as long in one window.
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

TEST_CASE("a line of step times is read as it was written") {
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

TEST_CASE("lines that are torn or of another kind are none, and odd values are gaps") {
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

TEST_CASE("ranks that have written nothing, or half a line, are left out") {
  const Scratch folder;
  std::filesystem::create_directories(folder.path() + "/logs");
  std::ofstream file(folder.path() + "/" + rundir::rank_statuses_name(2), std::ios::binary);
  const auto put = [&](std::string line) {
    line.resize(511, ' ');
    file << line << '\n';
  };
  put(R"({"rank":0,"host":"n1","cpu_s":2.5,"peak":100,"gpu":null,"ended":true})");
  file << std::string(512, '\0');
  put(R"({"rank":2,"host":"n2","phase":"training","step":7})");
  put(R"({"rank":18446744073709551615})");
  file << R"({"rank":3,"ho)";
  file.close();
  const auto ranks = rank_lines_of(folder.path(), {.number = 2});
  REQUIRE(ranks.size() == 2);
  CHECK((ranks[0].rank == 0 && ranks[0].cpu_s == 2.5 && !ranks[0].gpu && ranks[0].ended));
  CHECK((ranks[1].rank == 2 && ranks[1].step == 7 && !ranks[1].peak));
  CHECK(rank_lines_of(folder.path(), {.number = 1}).empty());
}

TEST_CASE("lines are given one by one, however long, a last one without an end too") {
  const Scratch folder;
  const auto path = folder.path() + "/lines";
  const std::string longest(3'000'000, 'x');
  std::ofstream(path) << "a\n\n" << longest << "\nend";
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line) { lines.emplace_back(line); });
  CHECK(lines == std::vector<std::string>{"a", "", longest, "end"});
}

TEST_CASE("each rank has a row, and is held against the median rank at the same time") {
  const auto times = rank_times_of(windows_of(4, 2, 3));
  REQUIRE(times.rows.size() == 4);
  CHECK(times.rows[2].ratio == Approx(1.5));
  CHECK(times.rows[0].ratio == Approx(1));
  CHECK(times.rows[3].own_us[4] == 2000);
  CHECK(times.median_us[4] == 1000);  // of 1000, 1000, 1500 and 2000: of two in the middle the lower
  CHECK(times.rows[2].median_us == 1500);
}

TEST_CASE("of thousands of ranks the slowest stay visible, the one that was slow for a while too") {
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

TEST_CASE("windows are taken together, but not those of two attempts") {
  const auto windows = windows_of(2, 0, 1);
  const auto stretches = stretches_of(windows, 3);
  REQUIRE(stretches.size() == 3);  // 4, 2 | 4
  CHECK((stretches[0].size() == 4 && stretches[1].size() == 2 && stretches[2].size() == 4));
  const auto times = rank_times_of(windows, {.stretches = 3});
  CHECK(times.rows[1].own_us[1] == Approx(1500));  // 2000 and 1000
  const auto json = heat_map_json(times);
  CHECK(json["columns"][1] == "attempt 1, steps 41 to 60, 2026-11-24T20:17:04Z");
  CHECK(json["own"][1][1] == 1500);
  CHECK_THAT(heat_map_of(times).str(), Contains("class=\"border\" d=\"M2,0v2\""));
}

TEST_CASE("steps a second are those between two windows, and a step is made of its parts") {
  const auto charts = step_charts(windows_of(2, 0, 1));
  REQUIRE(charts.size() == 3);
  CHECK(charts[0].series[0].values[1] == Approx(10));
  CHECK((std::isnan(charts[0].series[0].values[6]) &&
         std::isnan(charts[1].series[0].values[6])));  // no line joins the attempts
  REQUIRE(charts[1].series.size() == 3);               // forward, input, waiting
  CHECK((charts[1].series[0].name == "forward" && charts[1].series[0].values[0] == Approx(0.8)));
  CHECK(charts[1].series[2].values[0] == Approx(0.5));
  CHECK(charts[2].series[1].values[4] == Approx(2));
  CHECK(step_charts({}).empty());
}

TEST_CASE("what is counted over an attempt is shown by iteration, also after a restart") {
  RunSummary run;
  for (const double sum : {0.1, 0.3, 0.6, 0.2, 0.25})
    run.reports.push_back(
        {static_cast<std::int64_t>(run.reports.size()) + 1, {{"_time_data_s", sum}, {"_time_this_iter_s", 1.0}}});
  const auto charts = report_charts(run);
  REQUIRE(charts.size() == 2);
  const auto& shares = charts[1].series[0].values;
  REQUIRE(shares.size() == 5);
  CHECK(shares[0] == Approx(10));
  CHECK(shares[2] == Approx(30));
  CHECK(shares[3] == Approx(20));  // of the second attempt
  CHECK(shares[4] == Approx(5));
  run.reports[2].values.erase(run.reports[2].values.begin());
  CHECK(std::isnan(increments_of(run, "_time_data_s")[2]));
}

TEST_CASE("last words are the ends of files, of attempts that failed") {
  const Scratch folder;
  std::filesystem::create_directories(folder.path() + "/logs");
  std::ofstream(folder.path() + "/error.txt") << "it failed\n";
  std::ofstream log(folder.path() + "/logs/rank-00000.log");
  for (int i = 0; i < 5000; ++i) log << "line " << i << "\n";
  log.close();
  RunSummary run;
  run.run_dir = folder.path();
  CHECK(last_words_of(run).size() == 1);  // nothing failed but what error.txt tells
  run.attempts = {{.number = 1, .end = "2026-11-24T20:17:01Z", .why = "killed: x"}};
  const auto words = last_words_of(run);
  REQUIRE(words.size() == 2);
  CHECK((words[1].file == "logs/rank-00000.log" && words[1].is_cut && words[1].text.size() <= 6000));
  CHECK_THAT(words[1].text, Catch::Matchers::StartsWith("line ") && Catch::Matchers::EndsWith("line 4999\n"));
}
