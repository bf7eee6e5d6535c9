#include "metrics/progress.hpp"

#include <cmath>

#include <catch2/catch.hpp>

using namespace trainrt::metrics;
using Catch::Contains;

namespace {

struct Watched {
  double now = 100;
  std::vector<std::string> written;
  Progress progress;

  explicit Watched(bool terminal, std::size_t width = 80)
      : progress("demo", {terminal, width, [this](std::string_view text) { written.emplace_back(text); }},
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

TEST_CASE("a terminal has one line, written anew in place, narrower than it and ends at the end") {
  Watched watched(true, 24);
  watched.report_after(1, 1);
  watched.report_after(0.05, 2);
  watched.report_after(0.06, 3);
  REQUIRE(watched.written.size() == 2);
  CHECK(watched.written[0] == "\rdemo: iteration 1  loss\x1b[K");
  CHECK_THAT(watched.written[1], Contains("iteration 3"));
  watched.progress.end();
  CHECK(watched.written.back() == "\n");
}
