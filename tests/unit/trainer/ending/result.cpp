// Tests of Result: how a run directory is read, and how a result is sent to other ranks.
#include <cmath>
#include <fstream>

#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "trainer/ending/broadcast_result.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

/// Reports the losses 4, 1 and 3; the last report also has a string.
void three_reports(Context& ctx) {
  double x = 0;
  State state;
  state.value("x", x);
  ctx.restore(state);
  ctx.checkpoint_metadata(R"({"model": "small"})");
  for (const double loss : {4.0, 1.0, 3.0}) {
    ctx.step();
    if (loss == 3)
      ctx.report({{"loss", loss}, {"seen", trainrt::sum(2)}, {"half", trainrt::sum(0.5)}, {"note", "last"}});
    else
      ctx.report({{"loss", loss}, {"seen", trainrt::sum(1)}, {"half", trainrt::sum(0)}});
  }
}

void fails_at_the_second_step(Context& ctx) {
  ctx.step();
  ctx.report({{"loss", 2.0}});
  throw std::runtime_error("no more data");
}

const auto with_score = {std::pair{"checkpoint.score_attribute", "loss"}, std::pair{"checkpoint.score_order", "min"},
                         std::pair{"checkpoint.async", "false"}};

std::vector<std::int64_t> indices(const Result& result) {
  std::vector<std::int64_t> found;
  for (const auto& checkpoint : result.best_checkpoints) found.push_back(checkpoint.index);
  return found;
}

}  // namespace

TEST_CASE("a result has the last report, all reports as columns, and the best checkpoint first") {
  Scratch folder;
  REQUIRE(run_on(2, spec_in(folder.path(), with_score), three_reports).code == ExitCode::finished);
  const auto result = Result::from_path(folder.path() + "/r/");
  CHECK(result.run_name == "r");
  CHECK(result.path == folder.path() + "/r");
  CHECK(result.state == "finished");
  CHECK(result.exit_code() == 0);
  CHECK(result.error.empty());
  CHECK(result.attempts == 1);
  CHECK(std::get<double>(result.metrics.at("loss")) == 3);
  CHECK(std::get<std::string>(result.metrics.at("note")) == "last");
  CHECK(std::get<std::int64_t>(result.metrics.at("_training_iteration")) == 3);
  CHECK(result.metrics.at("seen") == ReportedValue(std::int64_t{4}));
  CHECK((as_real(result.metrics.at("seen")) == 4 && as_real(result.metrics.at("loss")) == 3));
  CHECK(std::isnan(as_real(result.metrics.at("note"))));
  CHECK(std::get<std::vector<std::int64_t>>(result.columns.at("seen")) == std::vector<std::int64_t>{2, 2, 4});
  CHECK(std::get<std::vector<double>>(result.columns.at("half")) == std::vector<double>{0, 0, 1});
  CHECK(std::get<std::vector<double>>(result.columns.at("loss")) == std::vector<double>{4, 1, 3});
  CHECK(std::get<std::vector<std::string>>(result.columns.at("note")) == std::vector<std::string>{"", "", "last"});
  CHECK(indices(result) == std::vector<std::int64_t>{1, 2, 0});
  CHECK(result.checkpoint->index == 2);
  CHECK(result.checkpoint->step == 3);
  CHECK(result.checkpoint->metrics.at("loss") == 3);
  CHECK_THAT(result.checkpoint->metadata, Contains("small"));
  CHECK(result.get_best_checkpoint("loss", "min")->index == 1);
  CHECK(result.get_best_checkpoint("loss", "max")->path == folder.path() + "/r/checkpoint_000000");
  CHECK_FALSE(result.get_best_checkpoint("other", "max"));
  CHECK_THROWS_WITH(result.get_best_checkpoint("loss", "least"), Contains("'least'") && Contains("max, min"));
}

TEST_CASE("without a score the newest checkpoint is the best") {
  Scratch folder;
  REQUIRE(run_on(1, spec_in(folder.path(), {{"checkpoint.async", "false"}}), three_reports).code == ExitCode::finished);
  CHECK(indices(Result::from_path(folder.path() + "/r")) == std::vector<std::int64_t>{2, 1, 0});
}

TEST_CASE("the result of a failed run has the error and the rank") {
  Scratch folder;
  CHECK_THROWS(run_on(1, spec_in(folder.path()), fails_at_the_second_step));
  const auto result = Result::from_path(folder.path() + "/r");
  CHECK(result.state == "failed");
  CHECK(result.exit_code() == 70);
  CHECK_THAT(result.error, Contains("rank 0") && Contains("no more data"));
  CHECK(std::get<double>(result.metrics.at("loss")) == 2);
}

TEST_CASE("from_path names a path that is not a run directory, and the reason") {
  Scratch folder;
  CHECK_THROWS_WITH(Result::from_path(folder.path()), Contains(folder.path()) && Contains("it has no run.json"));
  CHECK_THROWS_WITH(Result::from_path(folder.path() + "/none"), Contains("the path does not exist"));
  std::ofstream(folder.path() + "/run.json") << "{";
  CHECK_THROWS_WITH(Result::from_path(folder.path()), Contains("run.json"));
}

TEST_CASE("a packed and unpacked result is unchanged") {
  Scratch folder;
  REQUIRE(run_on(2, spec_in(folder.path(), with_score), three_reports).code == ExitCode::finished);
  const auto result = Result::from_path(folder.path() + "/r");
  const auto copy = trainer::unpacked_result(trainer::packed(result));
  CHECK(trainer::packed(copy) == trainer::packed(result));
  CHECK(copy.run_id == result.run_id);
  CHECK((copy.metrics == result.metrics && copy.columns == result.columns));
  CHECK(copy.best_checkpoints.size() == 3);
  CHECK(copy.checkpoint->metrics == result.checkpoint->metrics);
}
