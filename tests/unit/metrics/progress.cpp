#include "metrics/outputs/progress.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::metrics;
using Catch::Contains;

namespace {

struct Watched {
  double now = 100;
  std::optional<trainrt::TerminalSize> size;
  std::vector<std::string> written;
  Progress progress;

  explicit Watched(bool terminal, std::size_t width = 80, bool every_report = false)
      : size(terminal ? std::optional(trainrt::TerminalSize{24, width}) : std::nullopt),
        progress("demo",
                 {[this] { return size; }, [this](std::string_view text) { written.emplace_back(text); }, every_report},
                 [this] { return now; }) {
    progress.begin({});
  }
  void report_after(double seconds, std::int64_t iteration) {
    now += seconds;
    progress.write({iteration, {{"loss", 0.123456}, {"_pid", std::int64_t{1}}}});
  }
};

}  // namespace

TEST_CASE("a summary shows the iteration and the run's own metrics, on one line") {
  CHECK(summary({3,
                 {{"loss", 0.123456},
                  {"n", std::int64_t{70000}},
                  {"note", std::string("a\n\x1b[2J")},
                  {"_pid", std::int64_t{1}}}}) == "iteration 3  loss=0.1235  n=70000  note=a  [2J");
}

TEST_CASE("a rate is shown the way that gives the larger number") {
  CHECK(rate(5, 2) == "2.5 it/s");
  CHECK(rate(2, 5) == "2.5 s/it");
  CHECK(rate(0, 5).empty());
  CHECK(rate(5, 0).empty());
}

TEST_CASE("a terminal shows a bar where the train function told the total, a log never does") {
  CHECK(bar(5, 10) == "[##########----------]  50%");
  CHECK(bar(0, 3) == "[--------------------]   0%");
  CHECK(bar(7, 3) == "[####################] 100%");
  for (const bool terminal : {true, false}) {
    Watched watched(terminal);
    watched.progress.expect(10);
    watched.report_after(1, 5);
    CHECK((watched.written.back().find("50%") != std::string::npos) == terminal);
  }
}

TEST_CASE("a log gets the first report at once, then a line after 10, 20, 40, 60, 60 seconds, and the last report") {
  Watched watched(false);
  std::vector<int> at;
  for (int second = 1; second <= 300; ++second) {
    const auto before = watched.written.size();
    watched.report_after(1, second);
    if (watched.written.size() > before) at.push_back(second);
  }
  CHECK(at == std::vector<int>{1, 11, 31, 71, 131, 191, 251});
  CHECK(watched.written[0] == "demo: iteration 1  loss=0.1235  1 it/s\n");
  watched.progress.end();
  REQUIRE(watched.written.size() == 8);
  CHECK_THAT(watched.written.back(), Contains("iteration 300"));
}

TEST_CASE("the rate is that of the iterations, not of the time since the attempt began") {
  Watched watched(false);
  watched.now += 0.01;  // a restart a moment before the report: nearly all of the iteration was made by the attempt before
  watched.progress.write({7, {{"_time_this_iter_s", 4.0}}});
  CHECK_THAT(watched.written.back(), Contains("iteration 7  4 s/it"));
}

TEST_CASE("the last report is not shown twice, and a run without reports shows nothing") {
  Watched one(false);
  one.report_after(1, 1);
  one.progress.end();
  CHECK(one.written.size() == 1);
  Watched none(false);
  none.progress.end();
  CHECK(none.written.empty());
}

TEST_CASE("a log holds no control codes but line ends") {
  Watched watched(false);
  watched.report_after(1, 1);
  watched.progress.end();
  for (const auto& text : watched.written)
    for (const char c : text) CHECK((c >= 0x20 || c == '\n'));
}

TEST_CASE("steps are shown with their own rate, unless nobody counts them or each report is one") {
  Watched watched(false);
  watched.progress.at_step(500);
  watched.report_after(2, 1);
  CHECK(watched.written.back() == "demo: iteration 1  step 500  loss=0.1235  2 s/it  250 steps/s\n");
  watched.progress.at_step(501);
  watched.report_after(10, 2);
  CHECK(watched.written.back() == "demo: iteration 2  step 501  loss=0.1235  10 s/it  10 s/step\n");
  Watched alike(false);
  alike.progress.at_step(1);
  alike.report_after(2, 1);
  CHECK(alike.written.back() == "demo: iteration 1  loss=0.1235  2 s/it\n");
}

TEST_CASE("steps of earlier attempts do not count in the rate of steps") {
  Watched watched(false);
  watched.progress.at_step(500);
  watched.progress.begin({});
  watched.progress.at_step(600);
  watched.report_after(2, 6);
  CHECK_THAT(watched.written.back(), Contains("  50 steps/s"));
}

TEST_CASE("the time left stands at the end of a line, and is asked for only if a line is shown") {
  std::vector<std::string> written;
  double now = 0;
  int asked = 0;
  Progress progress(
      "demo", {[] { return std::nullopt; }, [&](std::string_view text) { written.emplace_back(text); }, false},
      [&] { return now; }, [&] { return ++asked == 1 ? "" : "1:00:00 left"; });
  progress.begin({});
  for (int second = 1; second <= 11; ++second) {
    now = second;
    progress.write({second, {}});
  }
  REQUIRE(written.size() == 2);
  CHECK(written[0] == "demo: iteration 1  1 it/s\n");
  CHECK(written[1] == "demo: iteration 11  1 it/s  1:00:00 left\n");
  CHECK(asked == 2);
}

TEST_CASE("every report has its line if that is asked for, on a terminal too") {
  for (const bool terminal : {true, false}) {
    Watched watched(terminal, 80, true);
    for (int i = 1; i <= 5; ++i) watched.report_after(0.01, i);
    watched.progress.end();
    REQUIRE(watched.written.size() == 5);
    for (const auto& line : watched.written) CHECK((line.starts_with("demo: iteration ") && line.ends_with("\n")));
  }
}

TEST_CASE("on a terminal the last row is taken once, written anew in place, cut to the width, and given back at the end") {
  const std::string take = "\x1b\x44\x1b\x4d\x1b\x37\x1b[1;23r\x1b\x38";
  const std::string row = "\x1b\x37\x1b[24;1H";
  Watched watched(true, 24);
  watched.report_after(1, 1);
  watched.report_after(0.05, 2);
  watched.report_after(0.06, 3);
  REQUIRE(watched.written.size() == 2);
  CHECK(watched.written[0] == take + row + "demo: iteration 1  loss\x1b[K\x1b\x38");
  CHECK(watched.written[1] == row + "demo: iteration 3  loss\x1b[K\x1b\x38");
  watched.progress.end();
  REQUIRE(watched.written.size() == 4);
  CHECK(watched.written[2] == "\x1b\x37\x1b[r\x1b[24;1H\x1b[K\x1b\x38");
  CHECK_THAT(watched.written[3], Contains("demo: iteration 3  loss=0.1235") && !Contains("\x1b"));
}

TEST_CASE("a window of another size is taken anew; an attempt that fails gives the row back") {
  std::vector<std::string> written;
  std::optional<trainrt::TerminalSize> size({24, 80});
  double now = 1;
  {
    Progress progress("demo", {[&] { return size; }, [&](std::string_view text) { written.emplace_back(text); }, false},
                      [&] { return ++now; });
    progress.begin({});
    progress.write({1, {}});
    size = {{40, 80}};
    progress.write({2, {}});
    CHECK_THAT(written.back(), Contains("\x1b[r\x1b[24;1H") && Contains("\x1b[1;39r") && Contains("\x1b[40;1H"));
  }
  CHECK(written.back() == "\x1b\x37\x1b[r\x1b[40;1H\x1b[K\x1b\x38");
}
