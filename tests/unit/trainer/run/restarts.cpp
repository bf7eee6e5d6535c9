// Tests of attempts that fail on all ranks together, and of the next attempts in the same processes, with ranks as threads.
#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <string>

#include <catch2/catch.hpp>

#include "metrics/result_log.hpp"
#include "rundir/attempts/attempt_files.hpp"
#include "trainer/run/restarts.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

std::atomic<int> failures_to_come;

/// Saves at each step. While `failures_to_come` is positive, all ranks fail after two steps of an attempt.
void fail_together(Context& ctx) {
  std::array<double, 1> sum{};
  State state;
  state.tensor("sum", sum);
  ctx.restore(state);
  const auto begin = ctx.step_count();
  while (ctx.step_count() < 6) {
    sum[0] = sum[0] / 3 + static_cast<double>(ctx.step_count());
    ctx.step();
    ctx.save();
    if (ctx.step_count() < begin + 2) continue;
    ctx.communicator().barrier();
    const bool fails = failures_to_come > 0;
    ctx.communicator().barrier();
    if (fails && ctx.world_rank() == 0) --failures_to_come;
    if (fails) throw trainer::FailedTogether("the program of rank 1 failed");
  }
  ctx.report({{"sum", sum[0]}});
}

std::vector<rundir::AttemptRecord> attempts_after(const config::RunSpec& spec, int failures) {
  failures_to_come = failures;
  run_on(3, spec, fail_together);
  return rundir::read_attempts(spec.run_dir, 100);
}

double sum_in(const std::string& run_dir) {
  const auto records = metrics::read_results(run_dir);
  REQUIRE(records.size() == 1);
  return std::get<double>(*records[0].find("sum"));
}

/// Sets the number of earlier failures while this object lives.
class FailuresBefore {
 public:
  explicit FailuresBefore(const char* count) { setenv("TRAINRT_FAILURES", count, 1); }
  ~FailuresBefore() { unsetenv("TRAINRT_FAILURES"); }
  FailuresBefore(const FailuresBefore&) = delete;
};

}  // namespace

TEST_CASE("a run that fails on all ranks together resumes from its checkpoint in the same processes") {
  const Scratch folder;
  const auto attempts = attempts_after(spec_in(folder.path()), 2);
  REQUIRE(attempts.size() == 3);
  CHECK_THAT(attempts[0].why, Contains("failed: the program of rank 1 failed"));
  CHECK(attempts[1].first_step == 2);
  CHECK(attempts[2].first_step == 4);
  CHECK(attempts[2].why == "finished");

  const Scratch other;
  const auto spec = spec_in(other.path());
  CHECK(attempts_after(spec, 0).size() == 1);
  CHECK(sum_in(folder / "r") == sum_in(spec.run_dir));
}

TEST_CASE("a run is given up after failure.max_failures restarts, with a message") {
  const Scratch folder;
  const auto spec = spec_in(folder.path(), {{"failure.max_failures", "1"}});
  CHECK_THROWS_WITH(attempts_after(spec, 100), Contains("the program of rank 1 failed") &&
                                                   Contains("given up after 2 failures (failure.max_failures = 1)"));
  CHECK(rundir::read_attempts(spec.run_dir, 100).size() == 2);
}

TEST_CASE("failures that the parent process has counted count, and the parent process reports the end") {
  const FailuresBefore before("2");
  const Scratch folder;
  const auto spec = spec_in(folder.path(), {{"failure.max_failures", "3"}});
  CHECK_THROWS_WITH(attempts_after(spec, 100), "the program of rank 1 failed");
  CHECK(rundir::read_attempts(spec.run_dir, 100).size() == 2);
}

TEST_CASE("without restarts, the error is only the failure") {
  const Scratch folder;
  CHECK_THROWS_WITH(attempts_after(spec_in(folder.path(), {{"failure.max_failures", "0"}}), 1),
                    "the program of rank 1 failed");
}

TEST_CASE("the first restart has no pause, and each later restart a longer one") {
  const Scratch folder;
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto spec = test::spec_in(folder.path(), {{"failure.max_failures", "100"}});
    trainer::Restarts restarts(spec, *communicator);
    const auto next_pause_s = [&] {
      restarts.count(trainer::FailedTogether("failed"));
      return restarts.pause_s();
    };
    CHECK(restarts.pause_s() == 0);
    for (const double pause_s : {0, 1, 2, 4, 8, 16, 32, 60, 60, 60}) CHECK(next_pause_s() == pause_s);
  });
}

TEST_CASE("a failure that a restart cannot fix ends the run") {
  const Scratch folder;
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto spec = test::spec_in(folder.path(), {{"failure.max_failures", "100"}});
    trainer::Restarts restarts(spec, *communicator);
    CHECK_THROWS_WITH(restarts.count(trainer::FailedTogether("it cannot work", ExitCode::usage)), "it cannot work");
  });
}

namespace {

trainer::FailedTogether early_failure(const std::string& signature, bool permanent = false) {
  trainer::FailedTogether failure(signature + ", and its last lines");
  failure.signature = failure.brief = signature;
  failure.is_permanent = permanent;
  failure.is_early = true;
  return failure;
}

/// Calls `use` with a Restarts object that allows 100 restarts.
void with_restarts(const std::function<void(trainer::Restarts&)>& use) {
  const Scratch folder;
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto spec = spec_in(folder.path(), {{"failure.max_failures", "100"}});
    trainer::Restarts restarts(spec, *communicator);
    use(restarts);
  });
}

}  // namespace

TEST_CASE("a run is not restarted if all ranks fail twice in a row in the same way before the first step") {
  with_restarts([](trainer::Restarts& restarts) {
    CHECK_NOTHROW(restarts.count(early_failure("a")));
    CHECK_NOTHROW(restarts.count(early_failure("b")));
    CHECK_NOTHROW(restarts.count(early_failure("a")));
    CHECK_NOTHROW(restarts.count(early_failure("")));  // only some ranks failed
    CHECK_NOTHROW(restarts.count(early_failure("")));
    CHECK_NOTHROW(restarts.count(early_failure("c")));
    CHECK_THROWS_WITH(
        restarts.count(early_failure("c")),
        "c; not restarted again, since it failed in the same way before the first step. Fix the error and run the same "
        "command again");
  });
}

TEST_CASE("a permanent failure before the first step is not restarted") {
  with_restarts([](trainer::Restarts& restarts) {
    CHECK_THROWS_WITH(restarts.count(early_failure("no module", true)),
                      Contains("no module; not restarted") && !Contains("last lines"));
  });
}

TEST_CASE("the exit code forbids a restart if no record of an attempt can") {
  with_restarts([](trainer::Restarts& restarts) {
    ExitCode code{};
    try {
      restarts.count(early_failure("no module", true));
    } catch (const comm::AgreedError& error) {
      code = error.code();
    }
    CHECK(code == ExitCode::no_progress);
  });
}

TEST_CASE("a run that may have trained is restarted after any failure") {
  with_restarts([](trainer::Restarts& restarts) {
    auto late = early_failure("a", true);
    late.is_early = false;
    CHECK_NOTHROW(restarts.count(late));
    for (int i = 0; i < 3; ++i) CHECK_NOTHROW(restarts.count(early_failure("a", true)));
  });
}
