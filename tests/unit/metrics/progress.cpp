#include "metrics/outputs/progress.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::metrics;
using Catch::Contains;

namespace {

struct Shown {
  double now = 100;
  std::optional<trainrt::TerminalSize> size;
  std::vector<std::string> written;
  ProgressSink progress;

  explicit Shown(bool terminal, std::size_t width = 80, bool every_report = false)
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

TEST_CASE("a summary shows the iteration and the user's metrics on one line") {
  CHECK(summary({3,
                 {{"loss", 0.123456},
                  {"n", std::int64_t{70000}},
                  {"note", std::string("a\n\x1b[2J")},
                  {"_pid", std::int64_t{1}}}}) == "iteration 3  loss=0.1235  n=70000  note=a  [2J");
}

TEST_CASE("a rate below one per second is shown as seconds per item") {
  CHECK(rate(5, 2) == "2.5 it/s");
  CHECK(rate(999.4, 1) == "999 it/s");
  CHECK(rate(5551, 1, "steps", "step") == "5,550 steps/s");
  CHECK(rate(99960, 0.1, "steps", "step") == "1,000,000 steps/s");
  CHECK(rate(1, 1234) == "1,230 s/it");
  CHECK(rate(2, 5) == "2.5 s/it");
  CHECK(rate(0, 5).empty());
  CHECK(rate(5, 0).empty());
}

TEST_CASE("only a terminal shows a bar, if the train function declared the total") {
  CHECK(bar(5, 10) == "[##########----------]  50%");
  CHECK(bar(0, 3) == "[--------------------]   0%");
  CHECK(bar(7, 3) == "[####################] 100%");
  for (const bool terminal : {true, false}) {
    Shown shown(terminal);
    shown.progress.expect_iterations(10);
    shown.report_after(1, 5);
    CHECK((shown.written.back().find("50%") != std::string::npos) == terminal);
  }
}

TEST_CASE("a log gets the first report, lines after 10, 20, 40, 60, 60 seconds, and the last report") {
  Shown shown(false);
  std::vector<int> at;
  for (int second = 1; second <= 300; ++second) {
    const auto before = shown.written.size();
    shown.report_after(1, second);
    if (shown.written.size() > before) at.push_back(second);
  }
  CHECK(at == std::vector<int>{1, 11, 31, 71, 131, 191, 251});
  CHECK(shown.written[0] == "demo: iteration 1  loss=0.1235  1 it/s\n");
  shown.progress.end();
  REQUIRE(shown.written.size() == 8);
  CHECK_THAT(shown.written.back(), Contains("iteration 300"));
}

TEST_CASE("the rate is computed from the times of the iterations, not from the start of the attempt") {
  Shown shown(false);
  shown.now += 0.01;  // an earlier attempt made nearly all of this iteration
  shown.progress.write({7, {{"_time_this_iter_s", 4.0}}});
  CHECK_THAT(shown.written.back(), Contains("iteration 7  4 s/it"));
}

TEST_CASE("the last report is not shown twice, and a run without reports shows nothing") {
  Shown one(false);
  one.report_after(1, 1);
  one.progress.end();
  CHECK(one.written.size() == 1);
  Shown empty(false);
  empty.progress.end();
  CHECK(empty.written.empty());
}

TEST_CASE("a log contains no control codes except line breaks") {
  Shown shown(false);
  shown.report_after(1, 1);
  shown.progress.end();
  for (const auto& text : shown.written)
    for (const char c : text) CHECK((c >= 0x20 || c == '\n'));
}

TEST_CASE("steps are shown with their own rate, unless each report is one step") {
  Shown shown(false);
  shown.progress.at_step(500);
  shown.report_after(2, 1);
  CHECK(shown.written.back() == "demo: iteration 1  step 500  loss=0.1235  2 s/it  250 steps/s\n");
  shown.progress.at_step(501);
  shown.report_after(10, 2);
  CHECK(shown.written.back() == "demo: iteration 2  step 501  loss=0.1235  10 s/it  10 s/step\n");
  Shown same(false);
  same.progress.at_step(1);
  same.report_after(2, 1);
  CHECK(same.written.back() == "demo: iteration 1  loss=0.1235  2 s/it\n");
}

TEST_CASE("the rate of steps does not include steps of earlier attempts") {
  Shown shown(false);
  shown.progress.at_step(500);
  shown.progress.begin({});
  shown.progress.at_step(600);
  shown.report_after(2, 6);
  CHECK_THAT(shown.written.back(), Contains("  50 steps/s"));
}

TEST_CASE("the time after the last report does not change its rates") {
  Shown shown(false);
  shown.progress.at_step(10);
  shown.report_after(2, 1);
  shown.progress.at_step(20);
  shown.report_after(2, 2);  // is shown only at the end
  shown.now += 60;
  shown.progress.end();
  CHECK_THAT(shown.written.back(), Contains("iteration 2  step 20") && Contains("  2 s/it  5 steps/s"));
}

TEST_CASE("a rate has three digits and no exponent") {
  CHECK(rate(3654, 1) == "3,650 it/s");
  CHECK(rate(999.6, 1) == "1,000 it/s");
  CHECK(rate(999.4, 1) == "999 it/s");
  CHECK(rate(1.234567e6, 1) == "1,230,000 it/s");
  CHECK(rate(2.5, 1) == "2.5 it/s");
  CHECK(rate(1, 2000) == "2,000 s/it");
  CHECK(rate(0, 1).empty());
}

TEST_CASE("the time left ends a line, and is computed only if a line is shown") {
  std::vector<std::string> written;
  double now = 0;
  int asked = 0;
  ProgressSink progress(
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

TEST_CASE("with every_report each report has its own line, also on a terminal") {
  for (const bool terminal : {true, false}) {
    Shown shown(terminal, 80, true);
    for (int i = 1; i <= 5; ++i) shown.report_after(0.01, i);
    shown.progress.end();
    REQUIRE(shown.written.size() == 5);
    for (const auto& line : shown.written) CHECK((line.starts_with("demo: iteration ") && line.ends_with("\n")));
  }
}

TEST_CASE("the last row of a terminal is reserved once, updated in place, and released at the end") {
  const std::string take = "\x1b\x44\x1b\x4d\x1b\x37\x1b[1;23r\x1b\x38";
  const std::string row = "\x1b\x37\x1b[24;1H";
  Shown shown(true, 24);
  shown.report_after(1, 1);
  shown.report_after(0.05, 2);
  shown.report_after(0.06, 3);
  REQUIRE(shown.written.size() == 2);
  CHECK(shown.written[0] == take + row + "demo: iteration 1  loss\x1b[K\x1b\x38");
  CHECK(shown.written[1] == row + "demo: iteration 3  loss\x1b[K\x1b\x38");
  shown.progress.end();
  REQUIRE(shown.written.size() == 4);
  CHECK(shown.written[2] == "\x1b\x37\x1b[r\x1b[24;1H\x1b[K\x1b\x38");
  CHECK_THAT(shown.written[3], Contains("demo: iteration 3  loss=0.1235") && !Contains("\x1b"));
}

TEST_CASE("a resized window is reserved again, and a failed attempt releases the row") {
  std::vector<std::string> written;
  std::optional<trainrt::TerminalSize> size({24, 80});
  double now = 1;
  {
    ProgressSink progress("demo", {[&] { return size; }, [&](std::string_view text) { written.emplace_back(text); }, false},
                          [&] { return ++now; });
    progress.begin({});
    progress.write({1, {}});
    size = {{40, 80}};
    progress.write({2, {}});
    CHECK_THAT(written.back(), Contains("\x1b[r\x1b[24;1H") && Contains("\x1b[1;39r") && Contains("\x1b[40;1H"));
  }
  CHECK(written.back() == "\x1b\x37\x1b[r\x1b[40;1H\x1b[K\x1b\x38");
}
