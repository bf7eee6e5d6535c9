// Replicated tensors over a whole run: one model on all ranks from the beginning on, and no checkpoint of several.
#include <atomic>
#include <fstream>
#include <mutex>
#include <vector>

#include <catch2/catch.hpp>
#include <csignal>
#include <trainrt/trainrt.hpp>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "rundir/records/run_record.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

/// What the ranks hold at the end.
class Ends {
 public:
  void add(int rank, const std::vector<float>& weights) {
    const std::lock_guard lock(mutex_);
    weights_.resize(std::max(weights_.size(), static_cast<std::size_t>(rank) + 1));
    weights_[static_cast<std::size_t>(rank)] = weights;
  }
  std::vector<std::vector<float>> take() { return std::exchange(weights_, {}); }

 private:
  std::mutex mutex_;
  std::vector<std::vector<float>> weights_;
};
Ends ends;

std::atomic<int> stop_at{-1};
std::atomic<int> part_at{-1};  // the last rank writes something of its own into its weights

std::vector<float> random_weights(const Context& ctx) {
  std::vector<float> weights(1000);
  auto random = ctx.random();  // another one on every rank
  for (auto& weight : weights) weight = static_cast<float>(random.uniform());
  return weights;
}

void train(Context& ctx) {
  auto weights = random_weights(ctx);
  std::vector<float> steady(10, 1);
  State state;
  state.tensor("model/w", weights);
  state.tensor("model/steady", steady);
  ctx.restore(state);
  while (ctx.step_count() < 12) {
    std::vector<float> gradient(weights.size(), static_cast<float>(ctx.world_rank()));
    for (std::size_t i = 0; i < weights.size(); ++i) gradient[i] += weights[i];
    ctx.communicator().all_reduce(gradient, Op::mean);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= 0.01F * gradient[i];
    if (ctx.step_count() == part_at && ctx.world_rank() == ctx.world_size() - 1) weights[500] += 1;
    if (ctx.step_count() == stop_at && ctx.world_rank() == 0) raise(SIGUSR1);
    ctx.step();
    if (ctx.step_count() % 3 == 0) ctx.report({{"w", weights[0]}});
  }
  ctx.save();
  ends.add(ctx.world_rank(), weights);
}

struct Parting {
  explicit Parting(int step) { part_at = step; }
  ~Parting() { part_at = -1; }
};

std::string error_in(const config::RunSpec& spec) {
  std::ifstream file(spec.run_dir + "/error.txt");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::int64_t> saved_steps(const config::RunSpec& spec) {
  std::vector<std::int64_t> steps;
  for (const auto& meta : checkpoint::list(spec.run_dir)) steps.push_back(meta.step);
  return steps;
}

/// The run fails as one whose replicas have parted at that step; returns what it says.
std::string parts(const config::RunSpec& spec, int at, void (*function)(Context&) = train, int ranks = 3) {
  const Parting parting(at);
  std::string said;
  try {
    run_on(ranks, spec, function);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::failed);
    said = error.what();
  }
  CHECK_THAT(error_in(spec), Contains(said));
  CHECK(rundir::read_run_record(spec.run_dir)->state == rundir::RunState::failed);
  return said;
}

}  // namespace

TEST_CASE("ranks that fill replicated tensors differently train one model, and a restart changes no bit of it") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch quiet, stopped;
  REQUIRE(run_on(3, spec_in(quiet.path()), train).code == ExitCode::finished);
  const auto wanted = ends.take();
  REQUIRE(wanted.size() == 3);
  CHECK(wanted[1] == wanted[0]);
  CHECK(wanted[2] == wanted[0]);
  stop_at = 4;
  REQUIRE(run_on(3, spec_in(stopped.path()), train).code == ExitCode::stopped);
  stop_at = -1;
  batch::forget_stop_signal();
  REQUIRE(run_on(3, spec_in(stopped.path()), train).code == ExitCode::finished);
  CHECK(ends.take() == wanted);
}

TEST_CASE("a replica that parts is named with its rank and the step since when, and no checkpoint is taken of it") {
  for (const auto* async : {"true", "false"}) {
    Scratch folder;
    const auto spec = spec_in(folder.path(), {{"checkpoint.async", async}});
    const auto said = parts(spec, 7);
    CHECK_THAT(said, Contains("at step 9: 'model/w' on rank 2 differs from the others' (equal at step 6)"));
    CHECK_THAT(said, !Contains("steady") && Contains("checkpoint.replica_check"));
    CHECK(saved_steps(spec) == std::vector<std::int64_t>{3, 6});
    REQUIRE(run_on(3, spec, train).code == ExitCode::finished);
    const auto weights = ends.take();
    CHECK(weights[2] == weights[0]);
  }
}

TEST_CASE("a replica that parts in the first steps of an attempt was equal when that began") {
  Scratch folder;
  CHECK_THAT(parts(spec_in(folder.path()), 0), Contains("(equal when this attempt began, at step 0)"));
  const auto spec = spec_in(folder.path());
  CHECK_THAT(parts(spec, 10), Contains("equal at step 9"));
  CHECK_THAT(parts(spec, 10), Contains("(equal when this attempt began, at step 9)"));
}

TEST_CASE("replicas are compared at save() and at the checkpoint of a stop too") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  for (const bool stops : {false, true}) {
    Scratch folder;
    const auto spec = spec_in(folder.path(), {{"checkpoint.every", "off"}});
    stop_at = stops ? 9 : -1;
    const auto said = parts(spec, 7);
    stop_at = -1;
    batch::forget_stop_signal();
    CHECK_THAT(said, Contains("'model/w' on rank 2") && Contains(stops ? "at step 11" : "at step 12"));
    CHECK(saved_steps(spec).empty());
  }
}

TEST_CASE("checkpoint.replica_check = warn and off let a run go on with replicas that have parted") {
  const Parting parting(7);
  for (const auto* choice : {"warn", "off"}) {
    Scratch folder;
    const auto spec =
        spec_in(folder.path(), {{"checkpoint.replica_check", choice}, {"checkpoint.replica_check_every", "2 steps"}});
    CHECK(run_on(2, spec, train).code == ExitCode::finished);
    CHECK(saved_steps(spec) == std::vector<std::int64_t>{3, 6, 9, 12});
    const auto weights = ends.take();
    CHECK(weights[1] != weights[0]);
  }
}

TEST_CASE("checkpoint.replica_check_every finds replicas that part before the next checkpoint does") {
  Scratch folder;
  const auto spec =
      spec_in(folder.path(), {{"checkpoint.replica_check_every", "2 steps"}, {"checkpoint.every", "4 reports"}});
  CHECK_THAT(parts(spec, 6), Contains("at step 8: 'model/w' on rank 2") && Contains("equal at step 6"));
}

TEST_CASE("checkpoint.replica_check_every must be a number of steps or off") {
  for (const auto* value : {"0 steps", "2 reports", "many", "1.5 steps", "2 steps more", "-1 steps"})
    CHECK_THROWS_WITH(
        spec_in("/tmp", {{"checkpoint.replica_check_every", value}}),
        Contains("test: checkpoint.replica_check_every is '") && Contains(value) && Contains("'N steps' or 'off'"));
  CHECK(spec_in("/tmp", {{"checkpoint.replica_check_every", "5 steps"}}).checkpoint.replica_check_every.steps == 5);
  CHECK(spec_in("/tmp").checkpoint.replica_check_every.steps == 0);
  CHECK_THROWS_WITH(spec_in("/tmp", {{"checkpoint.replica_check", "maybe"}}), Contains("error") && Contains("warn"));
}

TEST_CASE("ranks with other tensors are told so when they restore, before anything is sent") {
  for (const auto* every : {"1 reports", "off"}) {
    Scratch folder;
    CHECK_THROWS_WITH(run_on(2, spec_in(folder.path(), {{"checkpoint.every", every}}),
                             [](Context& ctx) {
                               std::vector<float> w(ctx.world_rank() == 1 ? 4'000'000 : 5);
                               State state;
                               state.tensor("model/w", w);
                               ctx.restore(state);
                             }),
                      Contains("'model/w'") && Contains("on rank 1"));
  }
}

namespace {

void save_backbone(Context& ctx) {
  std::vector<float> backbone(5, 3);
  State state;
  state.tensor("model/backbone", backbone);
  ctx.restore(state);
  ctx.step();
  ctx.save();
}

/// Its head is new, and another one on every rank.
void fine_tune(Context& ctx) {
  std::vector<float> backbone(5, 7), head(3, static_cast<float>(ctx.world_rank()));
  std::vector<std::int32_t> own(1, ctx.world_rank());
  State state;
  state.tensor("model/backbone", backbone);
  state.tensor("model/head", head).optional = true;
  state.tensor("own", own).per_rank().optional = true;
  ctx.restore(state);
  backbone.insert(backbone.end(), head.begin(), head.end());
  backbone.push_back(static_cast<float>(own[0]));
  ends.add(ctx.world_rank(), backbone);
}

std::vector<std::vector<float>> backbone_and_rank_0s_head() {
  return {{3, 3, 3, 3, 3, 0, 0, 0, 0}, {3, 3, 3, 3, 3, 0, 0, 0, 1}};
}

}  // namespace

TEST_CASE("what a run does not take from another one's checkpoint is rank 0's on all ranks") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), save_backbone);
  const auto from = folder.path() + "/r";
  run_on(2, spec_in(folder.path(), {{"run.name", "whole"}, {"run.resume_from_checkpoint", from.c_str()}}), fine_tune);
  CHECK(ends.take() == backbone_and_rank_0s_head());
  run_on(2,
         spec_in(folder.path(), {{"run.name", "tuned"},
                                 {"run.resume_from_checkpoint", from.c_str()},
                                 {"run.resume_tensors", "model/backbone"}}),
         fine_tune);
  CHECK(ends.take() == backbone_and_rank_0s_head());
}

TEST_CASE("an optional tensor that the run's own checkpoint lacks is rank 0's on all ranks") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), save_backbone);
  run_on(2, spec_in(folder.path(), {{"loop.num_epochs", "1"}}), fine_tune);
  CHECK(ends.take() == backbone_and_rank_0s_head());
}
