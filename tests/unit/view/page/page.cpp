// Tests of the page of a run: its contents, and that texts from a run directory cannot insert elements.
#include "view/page/page.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "view/charts/markup.hpp"
#include "view/page/number_texts.hpp"
#include "view/page/runs_section.hpp"
#include "view/page/table.hpp"

using namespace trainrt;
using namespace trainrt::view;
using namespace trainrt::view::page;
using Catch::Matchers::Contains;

namespace {

const std::string hostile = "</script><script>alert(1)</script>'\"&\u2028 {{data}} \x1b[2J 🙂";

RunSummary run_with(const std::string& name, std::int64_t reports) {
  RunSummary run;
  run.record.name = name;
  run.record.function = name;
  run.state = rundir::RunState::finished;
  run.record.loop = {{name, name}};
  run.record.spec = {{"checkpoint.score_attribute", "loss"}, {"checkpoint.score_order", "min"}};
  run.record.changes = {{2, name, name, name}};
  for (std::int64_t i = 1; i <= reports; ++i)
    run.reports.push_back({i, {{"loss", 1.0 / static_cast<double>(i)}, {name, i % 7}, {"_time_this_iter_s", 0.5}}});
  run.attempts = {{.number = 1, .nodes = {name}, .end = "x", .why = name, .timing = {.startup_s = 10, .steps_s = 60}},
                  {.number = 2, .first_iteration = reports / 2, .timing = {.steps_s = 29, .checkpoint_s = 1}}};
  for (auto& attempt : run.attempts) attempt.start = attempt.end = "2026-11-24T20:17:01Z";
  run.accounts = rundir::accounts_of(run.attempts);
  run.attempt_count = 2;
  return run;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

nlohmann::json data_of(const std::string& page) {
  const std::string begin = "id=\"data\">";
  const auto from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

}  // namespace

TEST_CASE("special and control characters of a text are escaped") {
  CHECK(text("<b>&\"'").str() == "&lt;b&gt;&amp;&quot;&#39;");
  CHECK(text("\x1b[2J\xff").str() == "\\x1b[2J\\xff");
  CHECK(element("p", {{"title", "\"><i"}}, "<i>").str() == "<p title=\"&quot;&gt;&lt;i\">&lt;i&gt;</p>");
  CHECK(script_json(R"({"a":"</script>"})") == R"({"a":"\u003c/script>"})");
}

TEST_CASE("names and texts of a run are escaped in the HTML and in the data of the page") {
  RunView view{
      .summary = run_with(hostile, 10), .steps = {}, .usage = {}, .failures = {{.file = hostile, .text = hostile}}};
  StepWindow window{.attempt = 1, .time = hostile, .own_us = {1, 2}, .waits_us = {}, .work_us = {{hostile, 1}}};
  window.slow = StepWindow::Slow{.rank = 1, .work = hostile, .ratio = 2, .why = hostile};
  view.steps.windows = {window};
  view.usage = {{1, {{.rank = 0, .host = hostile, .phase = hostile, .waits_in = hostile}}}};
  const std::vector<RunSummary> both = {view.summary, view.summary};
  for (const auto& page : {page_of(view, "now"), page_of(both, hostile, "now")}) {
    CHECK(count_of(page, "<script>alert") == 0);
    CHECK(count_of(page, "<script") == 2);  // data, and the script of the page
    CHECK(count_of(page, "\x1b") == 0);
    CHECK(count_of(page, "Content-Security-Policy\" content=\"default-src 'none';") == 1);
    const auto series = data_of(page)["charts"][0]["series"][0];
    CHECK(series["name"] == hostile);
  }
}

TEST_CASE("the numbers in the page are those of the summary") {
  const RunView view{.summary = run_with("a", 40), .steps = {}, .usage = {}, .failures = {}};
  const auto page = page_of(view, "now");
  CHECK_THAT(page, Contains("<data value=\"0.025\">0.025</data>"));  // the last loss, which is the best
  CHECK_THAT(page, Contains(goodput_text(rundir::sum_of(view.summary.accounts))));
  const auto series = data_of(page)["charts"][0]["series"][0];
  CHECK(series["y"].size() == 40);
  CHECK(series["y"][2].get<double>() == Approx(1.0 / 3).epsilon(1e-8));
  CHECK(series["x"][0][2] == 3);
  CHECK(series["x"][1][2].get<double>() == 1.5);
  CHECK(series["restarts"] == nlohmann::json{20});
  CHECK(series["best"] == 39);
}

TEST_CASE("a run without reports, attempts and ranks has a page") {
  RunView view{.summary = run_with("a", 0), .steps = {}, .usage = {}, .failures = {}};
  CHECK_THAT(page_of(view, "now"), Contains("No reports yet."));
  view.summary.attempts[0].silent = view.summary.attempts[1].silent = true;
  CHECK_THAT(page_of(view, "now"), Contains("The program does not report its metrics."));
  view.summary.attempts.clear();
  view.summary.accounts.clear();
  CHECK_THAT(page_of(view, "now"), Contains("No reports yet."));
}

TEST_CASE("parallel coordinates have an axis for each key that differs, with numbers if possible") {
  std::vector<RunSummary> runs = {run_with("a", 3), run_with("b", 3)};
  runs[0].record.loop = {{"lr", "0.1"}, {"optimizer", "adam"}, {"epochs", "3"}};
  runs[1].record.loop = {{"lr", "1e-3"}, {"epochs", "3"}};
  const auto json = parallel_json(runs);
  CHECK(json["axes"].dump() == R"(["lr","optimizer","loss","a","b"])");
  CHECK(json["runs"][0]["values"][0] == 0.1);
  CHECK(json["runs"][1]["values"][0] == 0.001);
  CHECK(json["runs"][0]["values"][1] == "adam");
  CHECK(json["runs"][1]["values"][1].is_null());
}

TEST_CASE("counters of reports have no axis in the parallel coordinates") {
  std::vector<RunSummary> runs = {run_with("a", 3), run_with("b", 3)};
  for (auto& run : runs)
    for (auto& report : run.reports) report.values.emplace_back("epoch", report.iteration);
  CHECK(parallel_json(runs)["axes"].dump() == R"(["a","b","loss","a","b"])");  // keys, then metrics
}

TEST_CASE("number_text is short, and exact_text has all digits") {
  CHECK(number_text(1.0 / 3) == "0.333333");
  CHECK(number_text(NAN) == "NaN");
  CHECK(exact_text(0.1 + 0.2) == "0.30000000000000004");
  CHECK(value_cell("0.02668788467563948").shown.str() ==
        "<data value=\"0.02668788467563948\" title=\"0.02668788467563948\">0.0266879</data>");
  CHECK(number_cell(1.0 / 3).shown.str() ==
        "<data value=\"0.3333333333333333\" title=\"0.3333333333333333\">0.333333</data>");
  CHECK(number_cell(0.25).shown.str() == "<data value=\"0.25\">0.25</data>");
  CHECK(value_cell("16").value == 16);
  CHECK(value_cell("adamw").shown.str() == "adamw");
  CHECK(step_time_text(1250) == "1.25 ms");
  CHECK(duration_text(3723) == "1:02:03");
}
