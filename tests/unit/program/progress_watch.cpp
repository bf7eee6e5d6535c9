#include "program/progress/progress_watch.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt::program;
using Catch::Matchers::Contains;

namespace {

struct Row {
  const char* story;
  const char* pattern;
  const char* line;
  ProgressNumbers found;  ///< empty if the line does not match
};

ProgressNumbers found_in(ProgressWatch& watch, bool at_end = false) {
  return watch.newest(at_end).value_or(ProgressNumbers{});
}

}  // namespace

TEST_CASE("numbers are found in lines as frameworks print them") {
  const std::vector<Row> rows = {
      {"a plain print",
       R"((?<step>\d+) .* loss[= ](?<loss>[\d.eE+-]+))",
       "step 12 of 100 loss=1.5e-3",
       {{"step", 12}, {"loss", 1.5e-3}}},
      {"a group in Python's syntax", R"(step (?P<step>\d+))", "step 7", {{"step", 7}}},
      {"Transformers",
       R"('loss': (?<loss>[^,}]+).*'epoch': (?<epoch>[\d.]+))",
       "{'loss': 0.5, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 1.5}",
       {{"loss", 0.5}, {"epoch", 1.5}}},
      {"Lightning",
       R"(Epoch (?<epoch>\d+):.* (?<batch>\d+)/\d+ .*(?<rate>[\d.]+)it/s.*train_loss=(?<loss>[\d.]+))",
       "Epoch 3:  45%|####5     | 45/100 [00:01<00:02, 3.5it/s, v_num=0, train_loss=0.520]",
       {{"epoch", 3}, {"batch", 45}, {"rate", 5}, {"loss", 0.52}}},
      {"Keras",
       R"((?<step>\d+)/\d+ .*accuracy: (?<accuracy>[\d.]+) - loss: (?<loss>[\d.]+))",
       "10/32 ----- 0s 6ms/step - accuracy: 0.5625 - loss: 0.6931",
       {{"step", 10}, {"accuracy", 0.5625}, {"loss", 0.6931}}},
      {"a group that matches nothing", R"(step (?<step>\d+)(?: loss (?<loss>\S+))?)", "step 4", {{"step", 4}}},
      {"a sign", R"(step (?<step>\S+))", "step +30", {{"step", 30}}},
      {"a bracket expression with an escaped bracket", R"([(?<a>\]]\(\[(?<step>\d+))", "?([3", {{"step", 3}}},
      {"a line without progress", R"(step (?<step>\d+))", "loading the data", {}}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(ProgressPattern(row.pattern).find(row.line).value_or(ProgressNumbers{}) == row.found);
  }
  CHECK(ProgressPattern(R"((?<epoch>\d+) (?<step>\d+) (?<iteration>\d+))").position() == "step");
  CHECK(ProgressPattern(R"((?<epoch>\d+) (?<iteration>\d+))").position() == "iteration");
}

TEST_CASE("an invalid expression is an error that names the problem") {
  const auto refuses = [](const char* pattern, const char* words) {
    INFO(pattern);
    CHECK_THROWS_AS(ProgressPattern(pattern), trainrt::UsageError);
    CHECK_THROWS_WITH(ProgressPattern(pattern), Contains(words));
  };
  refuses(R"(step (?<step>\d+)", "is not a valid regular expression");
  refuses("(?<step>[0-9)", "is not a valid regular expression");
  refuses("*", "is not a valid regular expression");
  refuses(R"(step (\d+))", "no named group");
  refuses(R"(loss (?<loss>\S+))", "no group is named step, iteration or epoch");
  refuses(R"((?<step>\d+) (?<_timestamp>\d+))", "_timestamp");
  refuses(R"((?<step>\d+) (?<step>\d+))", "two groups are named 'step'");
}

TEST_CASE("a matched text that is not a number, and an invalid position, are errors") {
  CHECK_THROWS_WITH(ProgressPattern(R"((?<step>\d+) (?<loss>\S+))").find("3 low"), Contains("loss matched 'low'"));
  CHECK_THROWS_WITH(ProgressPattern(R"((?<step>\S+))").find("1.5"), Contains("must be a non-negative integer"));
  CHECK_THROWS_WITH(ProgressPattern(R"((?<epoch>\S+))").find("-1"), Contains("must be a non-negative number"));
  CHECK(ProgressPattern(R"((?<epoch>\S+) (?<loss>\S+))").find("0.5 nan").has_value());
}

TEST_CASE("lines are assembled from pieces, and each scan returns the newest numbers with a greater position") {
  ProgressWatch watch(ProgressPattern(R"(step (?<step>\d+))"));
  watch.add(0, "ste");
  CHECK(found_in(watch).empty());
  watch.add(1, "a warning\n");  // on the other stream, between them
  watch.add(0, "p 1\nstep 2\nstep 3");
  CHECK(found_in(watch) == ProgressNumbers{{"step", 2}});
  CHECK(found_in(watch).empty());
  watch.add(0, "4\nstep 1\n");  // an evaluation, which counts its own steps
  CHECK(found_in(watch) == ProgressNumbers{{"step", 34}});
  watch.add(0, "step 33\n");
  CHECK(found_in(watch).empty());
  watch.add(0, "\rstep 35\rstep 36");  // a progress bar
  CHECK(found_in(watch) == ProgressNumbers{{"step", 35}});
  CHECK(found_in(watch, true) == ProgressNumbers{{"step", 36}});
}

TEST_CASE("memory is bounded: long lines are cut, and only the newest lines are kept") {
  ProgressWatch watch(ProgressPattern(R"(step (?<step>\d+))"));
  watch.add(0, "step 1 " + std::string(std::size_t{1} << 20, 'x') + " step 99\n");
  CHECK(found_in(watch) == ProgressNumbers{{"step", 1}});
  watch.add(0, std::string(ProgressWatch::max_line_bytes, 'x') + "step 99\n");
  CHECK(found_in(watch).empty());
  watch.add(0, "step 5\n");
  for (std::size_t i = 0; i < ProgressWatch::max_lines; ++i) watch.add(0, "x\n");
  CHECK(found_in(watch).empty());
}

TEST_CASE("an expression with exponential backtracking does not stall the scan") {
  ProgressWatch watch(ProgressPattern(R"(^(?:a+)+ (?<step>\d+)$)"));
  for (int i = 0; i < 20; ++i) watch.add(0, std::string(200, 'a') + "!\n");
  CHECK(found_in(watch).empty());
  watch.add(0, "aa 5\n");
  CHECK(found_in(watch) == ProgressNumbers{{"step", 5}});
  CHECK_FALSE(watch.has_given_up());
}

TEST_CASE("an expression that is too slow for a line is not used any more") {
  ProgressWatch watch(ProgressPattern(R"((?:.*a){6}(?<step>\d+))"), 0.001);
  watch.add(0, std::string(1000, 'a') + "\n");
  CHECK(found_in(watch).empty());
  CHECK(watch.has_given_up());
  watch.add(0, std::string(6, 'a') + "5\n");
  CHECK(found_in(watch).empty());
}
