// Tests of runs that end early: by a rule of [stop], or by request_stop().
#include <filesystem>

#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "rundir/records/run_record.hpp"
#include "unit/trainer/session/hash_samples.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

TEST_CASE("a rule of [stop] ends the run as finished until the rule changes") {
  Scratch folder;
  const auto outcome = run_on(2, spec_in(folder.path(), {{"stop.training_iteration", "2"}}), hash_samples);
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->state == rundir::RunState::finished);
  CHECK_THAT(run_on(2, spec_in(folder.path(), {{"stop.training_iteration", "2"}}), hash_samples).message,
             Contains("finished already"));
  CHECK_THAT(run_on(2, spec_in(folder.path()), hash_samples).message, Contains("finished: 3 iterations"));
}

TEST_CASE("a rule of [stop] ends a run without a State as finished") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"stop.training_iteration", "2"}});
  const auto only_reports = [](Context& ctx) {
    for (int i = 0; i < 100; ++i) ctx.report({{"i", i}});
  };
  const auto outcome = run_on(2, spec, only_reports);
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
  CHECK_THAT(run_on(2, spec, only_reports).message, Contains("finished already"));
}

TEST_CASE("a run that ended early does not resume if it was killed before its end was recorded") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"stop.training_iteration", "2"}});
  REQUIRE(run_on(2, spec, hash_samples).code == ExitCode::finished);
  auto record = *rundir::read_run_record(folder.path() + "/r");
  record.state = rundir::RunState::running;
  std::filesystem::create_directory(folder.path() + "/r/aside");
  rundir::write_run_record({folder.path() + "/r", folder.path() + "/r/aside"}, record);
  const auto again = run_on(2, spec, hash_samples);
  CHECK(again.code == ExitCode::finished);
  CHECK_THAT(again.message, Contains("finished early (training_iteration = 2 >= 2): 2 iterations"));
}

TEST_CASE("the last checkpoint of an early end holds that end, even if one of the same report is in flight") {
  Scratch folder;
  const auto spec = spec_in(folder.path());
  const auto asks_after_report = [](Context& ctx) {
    int i = 0;
    State state;
    state.value("i", i);
    ctx.restore(state);
    while (i < 5) {
      ++i;
      ctx.report({{"i", i}});
      if (i == 2) ctx.request_stop("good enough");
      ctx.stop_point();
      ctx.stop_point();
    }
  };
  REQUIRE(run_on(2, spec, asks_after_report).code == ExitCode::finished);
  auto record = *rundir::read_run_record(folder.path() + "/r");
  record.state = rundir::RunState::running;  // as if it had been killed before its end was recorded
  std::filesystem::create_directory(folder.path() + "/r/aside");
  rundir::write_run_record({folder.path() + "/r", folder.path() + "/r/aside"}, record);
  CHECK_THAT(run_on(2, spec, asks_after_report).message, Contains("finished early (good enough): 2 iterations"));
}

TEST_CASE("a request of one rank ends the run at the same step on all ranks") {
  Scratch folder;
  const auto outcome = run_on(3, spec_in(folder.path()), [](Context& ctx) {
    std::int64_t steps = 0;
    State state;
    state.value("steps", steps);
    ctx.restore(state);
    for (; steps < 1000;) {
      if (ctx.world_rank() == 1 && steps == 10) ctx.request_stop("good enough");
      ++steps;
      ctx.step();
    }
  });
  CHECK(outcome.code == ExitCode::finished);
  CHECK_THAT(outcome.message, Contains("finished early (good enough): 12 steps"));
}
