// Tests of Context::observe(), which records the progress of a program that saves its own files.
#include <vector>

#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/trainrt.hpp>

#include "batch/signals.hpp"
#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

constexpr double stop_here = -1;

/// Runs two ranks with a program that shows these steps.
trainer::RunOutcome run_showing(const config::RunSpec& spec, std::vector<double> steps) {
  trainer::RunOutcome outcome;
  const auto train = [&](Context& ctx) {
    for (const double step : steps) {
      if (step == stop_here && ctx.world_rank() == 1) raise(SIGUSR1);
      while (step == stop_here) ctx.stop_point();
      ctx.observe("step", {{"step", step}, {"loss", 1 / (1 + step)}});
      ctx.stop_point();
    }
  };
  run_launched(2, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto mine = trainer::run(spec, {"test", train, true, true}, launch, *communicator);
    if (launch.world().rank == 0) outcome = mine;
  });
  return outcome;
}

std::vector<std::pair<std::int64_t, double>> steps_in(const std::string& run_dir) {
  std::vector<std::pair<std::int64_t, double>> steps;
  for (const auto& record : metrics::read_results(run_dir)) {
    const auto* value = record.find("step");
    REQUIRE(value != nullptr);
    const auto* number = std::get_if<double>(value);
    steps.emplace_back(record.iteration, number != nullptr ? *number : static_cast<double>(std::get<std::int64_t>(*value)));
  }
  return steps;
}

}  // namespace

TEST_CASE("observed steps become records, and a rule of [stop] applies to them") {
  const Scratch scratch;
  auto spec = spec_in(scratch.path(), {{"stop.step", "40"}});
  using Steps = std::vector<std::pair<std::int64_t, double>>;
  const auto first = run_showing(spec, {10, 20, 30, 40, 50, 60});  // the rule stops the run at the next stop point
  CHECK(first.code == ExitCode::finished);
  CHECK_THAT(first.message, Contains("the last step in its output was 50"));
  CHECK(steps_in(spec.run_dir) == Steps{{1, 10}, {2, 20}, {3, 30}, {4, 40}, {5, 50}});
  const auto attempts = rundir::read_attempts(spec.run_dir);
  REQUIRE(attempts.size() == 1);
  CHECK((attempts[0].silent && attempts[0].position == 50 && attempts[0].shows_progress()));
  CHECK((attempts[0].first_step == 10 && attempts[0].last_step == 50 && attempts[0].saved_step == -1));
}

TEST_CASE("a later attempt replaces records from its first observed step on, or keeps all if it observes no step") {
  const Scratch scratch;
  const auto spec = spec_in(scratch.path());
  using Steps = std::vector<std::pair<std::int64_t, double>>;
  batch::install_stop_signals();
  const auto stopped_after = [&](std::vector<double> steps) {
    steps.push_back(stop_here);
    const auto outcome = run_showing(spec, std::move(steps));
    CHECK(outcome.code == ExitCode::stopped);
    CHECK_THAT(outcome.message, Contains("must itself continue from files that it saved"));
    batch::forget_stop_signal();
  };
  stopped_after({1, 2, 3});
  CHECK(steps_in(spec.run_dir) == Steps{{1, 1}, {2, 2}, {3, 3}});
  stopped_after({3, 4});
  CHECK(steps_in(spec.run_dir) == Steps{{1, 1}, {2, 2}, {3, 3}, {4, 4}});
  stopped_after({2.5});
  CHECK(steps_in(spec.run_dir) == Steps{{1, 1}, {2, 2}, {3, 2.5}});
  CHECK(run_showing(spec, {}).code == ExitCode::finished);
  CHECK(steps_in(spec.run_dir) == Steps{{1, 1}, {2, 2}, {3, 2.5}});
}
