// Tests of runs that are stopped, with ranks as threads: after a restart, they have the same results as an undisturbed run.
#include <atomic>
#include <chrono>
#include <thread>

#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/trainrt.hpp>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "metrics/result_log.hpp"
#include "rundir/records/run_record.hpp"
#include "unit/trainer/session/hash_samples.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

TEST_CASE("a run that one rank stops at any step ends with the same metrics as an undisturbed run") {
  batch::install_stop_signals();
  for (const int size : {1, 2, 3}) {
    Scratch quiet;
    stop_at_step = -1;
    REQUIRE(run_on(size, spec_in(quiet.path()), hash_samples).code == ExitCode::finished);
    const auto expected = reported_hashes(quiet.path() + "/r");
    REQUIRE(expected.size() == 3);

    Scratch stopped;
    int attempts = 0;
    for (int step = 0; step < 50; step += 3) {
      stop_at_step = step;
      batch::forget_stop_signal();
      const auto outcome = run_on(size, spec_in(stopped.path()), hash_samples);
      ++attempts;
      if (outcome.code == ExitCode::finished) break;
      CHECK(outcome.code == ExitCode::stopped);
    }
    batch::forget_stop_signal();
    stop_at_step = -1;
    CHECK(attempts > 4);
    CHECK(reported_hashes(stopped.path() + "/r") == expected);
    CHECK(rundir::read_run_record(stopped.path() + "/r")->state == rundir::RunState::finished);
  }
}

TEST_CASE("a stop that user code catches is thrown again by the next call") {
  Scratch folder;
  batch::install_stop_signals();
  batch::forget_stop_signal();
  const auto outcome = run_on(2, spec_in(folder.path()), [](Context& ctx) {
    double x = 0;
    State state;
    state.value("x", x);
    ctx.restore(state);
    raise(SIGTERM);
    for (int i = 0; i < 1000; ++i) {
      try {
        x += 1;
        ctx.step();
      } catch (...) {
        x = -1;  // must not be saved: the checkpoint of the stop was saved before
      }
      if (x < 0) ctx.report({{"x", x}});
    }
  });
  batch::forget_stop_signal();
  CHECK(outcome.code == ExitCode::stopped);
  CHECK(metrics::read_results(folder.path() + "/r").empty());
}

namespace {

/// Makes 24 steps, and a report every 5 steps, with a score that goes up and down.
void reports_seldom(Context& ctx) {
  std::int64_t step = 0;
  std::int64_t reports = 0;
  State state;
  state.value("step", step);
  state.value("reports", reports);
  ctx.restore(state);
  const auto report_if_due = [&] {
    if (step / 5 == reports) return;
    ++reports;
    ctx.report({{"score", static_cast<double>(reports * 3 % 4)}});
  };
  report_if_due();
  while (step < 24) {
    ++step;
    if (step == stop_at_step) raise(SIGUSR1);
    ctx.step();
    report_if_due();
  }
}

std::vector<std::int64_t> kept_steps(const std::string& run_dir) {
  std::vector<std::int64_t> steps;
  for (const auto& meta : checkpoint::list(run_dir)) steps.push_back(meta.step);
  return steps;
}

}  // namespace

TEST_CASE("a stopped run keeps the same checkpoints as an undisturbed run") {
  batch::install_stop_signals();
  for (const char* attribute : {"score", ""}) {
    INFO("by '" << attribute << "'");
    const auto spec_of = [&](const Scratch& folder) {
      auto spec = spec_in(folder.path(), {{"checkpoint.every", "3 steps"}, {"checkpoint.num_to_keep", "3"}});
      spec.checkpoint.score_attribute = attribute;
      return spec;
    };
    Scratch quiet;
    stop_at_step = -1;
    REQUIRE(run_on(2, spec_of(quiet), reports_seldom).code == ExitCode::finished);
    const auto expected = kept_steps(quiet.path() + "/r");
    REQUIRE(expected.size() >= 3);
    for (const int stride : {1, 2, 5}) {
      Scratch stopped;
      for (int step = 1; step < 24; step += stride) {
        stop_at_step = step;
        run_on(2, spec_of(stopped), reports_seldom);
        batch::forget_stop_signal();
      }
      stop_at_step = -1;
      CHECK(run_on(2, spec_of(stopped), reports_seldom).code == ExitCode::finished);
      CHECK(kept_steps(stopped.path() + "/r") == expected);
    }
  }
}

TEST_CASE("the duration of an iteration that a stop interrupts includes both attempts") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch folder;
  const auto slow_then_stopped = [](Context& ctx) {
    int step = 0;
    State state;
    state.value("step", step);
    const bool restored = ctx.restore(state);
    if (!restored) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      ++step;
      raise(SIGUSR1);
      ctx.step();
      ctx.step();
    }
    ctx.report({{"x", 1.0}});
  };
  CHECK(run_on(1, spec_in(folder.path()), slow_then_stopped).code == ExitCode::stopped);
  batch::forget_stop_signal();
  CHECK(run_on(1, spec_in(folder.path()), slow_then_stopped).code == ExitCode::finished);
  const auto records = metrics::read_results(folder.path() + "/r");
  REQUIRE(records.size() == 1);
  CHECK(std::get<double>(*records[0].find("_time_this_iter_s")) >= 0.3);
}

namespace {

std::atomic<int> stop_in_evaluation{-1};  // number of the stop point at which the last rank raises SIGUSR2; -1: never

/// Trains three epochs as hash_samples() does, with an evaluation after each.
void evaluate_between(Context& ctx) {
  auto data = ctx.dataset("train");
  int epoch = 0;
  std::vector<std::int64_t> hash(1);
  State state;
  state.value("epoch", epoch);
  state.tensor("hash", hash).per_rank();
  ctx.restore(state);
  int point = 0;
  while (epoch < 3) {
    for (const auto& batch : data.epoch(epoch).batches(7)) {
      for (const auto index : batch.indices())
        hash[0] = static_cast<std::int64_t>(mix_seed(static_cast<std::uint64_t>(hash[0]), index, ctx.step_seed()));
      ctx.step();
    }
    double seen = 0;
    for (const auto& batch : data.epoch(0).batches(5)) {
      if (ctx.world_rank() == ctx.world_size() - 1 && point++ == stop_in_evaluation) raise(SIGUSR2);
      ctx.stop_point();
      seen += static_cast<double>(batch.size());
    }
    ++epoch;
    ctx.report({{"hash", static_cast<double>(hash[0] >> 12)}, {"seen", sum(seen)}});
  }
}

}  // namespace

TEST_CASE("a run stopped inside an evaluation repeats the evaluation, but no step") {
  batch::install_stop_signals();
  Scratch quiet;
  stop_in_evaluation = -1;
  REQUIRE(run_on(2, spec_in(quiet.path()), evaluate_between).code == ExitCode::finished);
  for (const int point : {0, 3, 7}) {
    Scratch stopped;
    stop_in_evaluation = point;
    batch::forget_stop_signal();
    const auto first = run_on(2, spec_in(stopped.path()), evaluate_between);
    CHECK(first.code == ExitCode::stopped);
    batch::forget_stop_signal();
    stop_in_evaluation = -1;
    CHECK(run_on(2, spec_in(stopped.path()), evaluate_between).code == ExitCode::finished);
    CHECK(reported_hashes(stopped.path() + "/r") == reported_hashes(quiet.path() + "/r"));
    for (const auto& record : metrics::read_results(stopped.path() + "/r"))
      CHECK(std::get<double>(*record.find("seen")) == 100);
  }
}

TEST_CASE("a stop before the train function begins leaves metrics and checkpoints unchanged") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch folder;
  stop_at_step = 20;
  REQUIRE(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::stopped);
  stop_at_step = -1;
  const auto before = reported_hashes(folder.path() + "/r");
  REQUIRE_FALSE(before.empty());
  const auto again = run_on(2, spec_in(folder.path()), hash_samples);  // the signal has not been forgotten
  batch::forget_stop_signal();
  CHECK(again.code == ExitCode::stopped);
  CHECK(reported_hashes(folder.path() + "/r") == before);
  CHECK(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
  CHECK(reported_hashes(folder.path() + "/r").size() == 3);
}

TEST_CASE("a stop without a State exits with 70, since nothing could be saved") {
  Scratch folder;
  batch::install_stop_signals();
  batch::forget_stop_signal();
  const auto outcome = run_on(2, spec_in(folder.path()), [](Context& ctx) {
    raise(SIGTERM);
    for (int i = 0; i < 100; ++i) ctx.step();
  });
  batch::forget_stop_signal();
  CHECK(outcome.code == ExitCode::failed);
  CHECK_THAT(outcome.message, Contains("could not be saved"));
}
