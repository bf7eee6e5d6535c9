// Tests of replicated tensors in a run: they begin equal on all ranks, and no checkpoint is saved if they differ.
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
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

/// The weights of each rank at the end.
class FinalWeights {
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
FinalWeights final_weights;

std::atomic<int> stop_at{-1};
std::atomic<int> diverge_at{-1};  // step at which the last rank changes one of its weights

std::vector<float> random_weights(const Context& ctx) {
  std::vector<float> weights(1000);
  auto random = ctx.random();  // different on every rank
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
    if (ctx.step_count() == diverge_at && ctx.world_rank() == ctx.world_size() - 1) weights[500] += 1;
    if (ctx.step_count() == stop_at && ctx.world_rank() == 0) raise(SIGUSR1);
    ctx.step();
    if (ctx.step_count() % 3 == 0) ctx.report({{"w", weights[0]}});
  }
  ctx.save();
  final_weights.add(ctx.world_rank(), weights);
}

struct Divergence {
  explicit Divergence(int step) { diverge_at = step; }
  ~Divergence() { diverge_at = -1; }
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

/// Runs with replicas that diverge at step `at`. Returns the error with which the run must fail.
std::string error_of_divergence(const config::RunSpec& spec, int at, void (*function)(Context&) = train, int ranks = 3) {
  const Divergence divergence(at);
  std::string message;
  try {
    run_on(ranks, spec, function);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::failed);
    message = error.what();
  }
  CHECK_THAT(error_in(spec), Contains(message));
  CHECK(rundir::read_run_record(spec.run_dir)->state == rundir::RunState::failed);
  return message;
}

}  // namespace

TEST_CASE("ranks that initialize replicated tensors differently train the same model, also after a restart") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  Scratch quiet, stopped;
  REQUIRE(run_on(3, spec_in(quiet.path()), train).code == ExitCode::finished);
  const auto wanted = final_weights.take();
  REQUIRE(wanted.size() == 3);
  CHECK(wanted[1] == wanted[0]);
  CHECK(wanted[2] == wanted[0]);
  stop_at = 4;
  REQUIRE(run_on(3, spec_in(stopped.path()), train).code == ExitCode::stopped);
  stop_at = -1;
  batch::forget_stop_signal();
  REQUIRE(run_on(3, spec_in(stopped.path()), train).code == ExitCode::finished);
  CHECK(final_weights.take() == wanted);
}

TEST_CASE("a diverged replica is an error with tensor, rank and step, and is not saved") {
  for (const auto* async : {"true", "false"}) {
    Scratch folder;
    const auto spec = spec_in(folder.path(), {{"checkpoint.async", async}});
    const auto message = error_of_divergence(spec, 7);
    CHECK_THAT(message,
               Contains("at step 9: 'model/w' on rank 2 differs from the other ranks (it was last equal at step 6)"));
    CHECK_THAT(message, !Contains("steady") && Contains("checkpoint.replica_check"));
    CHECK(saved_steps(spec) == std::vector<std::int64_t>{3, 6});
    REQUIRE(run_on(3, spec, train).code == ExitCode::finished);
    const auto weights = final_weights.take();
    CHECK(weights[2] == weights[0]);
  }
}

TEST_CASE("the error names the begin of the attempt if a replica diverges in its first steps") {
  Scratch folder;
  CHECK_THAT(error_of_divergence(spec_in(folder.path()), 0),
             Contains("(it was last equal when this attempt began, at step 0)"));
  const auto spec = spec_in(folder.path());
  CHECK_THAT(error_of_divergence(spec, 10), Contains("equal at step 9"));
  CHECK_THAT(error_of_divergence(spec, 10), Contains("(it was last equal when this attempt began, at step 9)"));
}

TEST_CASE("replicas are also compared at save() and at the checkpoint of a stop") {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  for (const bool stops : {false, true}) {
    Scratch folder;
    const auto spec = spec_in(folder.path(), {{"checkpoint.every", "off"}});
    stop_at = stops ? 9 : -1;
    const auto message = error_of_divergence(spec, 7);
    stop_at = -1;
    batch::forget_stop_signal();
    CHECK_THAT(message, Contains("'model/w' on rank 2") && Contains(stops ? "at step 11" : "at step 12"));
    CHECK(saved_steps(spec).empty());
  }
}

TEST_CASE("a run with diverged replicas continues with checkpoint.replica_check = warn or off") {
  const Divergence divergence(7);
  for (const auto* choice : {"warn", "off"}) {
    Scratch folder;
    const auto spec =
        spec_in(folder.path(), {{"checkpoint.replica_check", choice}, {"checkpoint.replica_check_every", "2 steps"}});
    CHECK(run_on(2, spec, train).code == ExitCode::finished);
    CHECK(saved_steps(spec) == std::vector<std::int64_t>{3, 6, 9, 12});
    const auto weights = final_weights.take();
    CHECK(weights[1] != weights[0]);
  }
}

TEST_CASE("checkpoint.replica_check_every finds diverged replicas before the next checkpoint") {
  Scratch folder;
  const auto spec =
      spec_in(folder.path(), {{"checkpoint.replica_check_every", "2 steps"}, {"checkpoint.every", "4 reports"}});
  CHECK_THAT(error_of_divergence(spec, 6), Contains("at step 8: 'model/w' on rank 2") && Contains("equal at step 6"));
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

TEST_CASE("restore() fails if the ranks have different tensors, before anything is sent") {
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

/// Restores a backbone, and a head that the checkpoint lacks. The head has different values on every rank.
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
  final_weights.add(ctx.world_rank(), backbone);
}

std::vector<std::vector<float>> backbone_and_rank_0s_head() {
  return {{3, 3, 3, 3, 3, 0, 0, 0, 0}, {3, 3, 3, 3, 3, 0, 0, 0, 1}};
}

}  // namespace

TEST_CASE("tensors that are not loaded from another run's checkpoint have rank 0's values on all ranks") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), save_backbone);
  const auto from = folder.path() + "/r";
  run_on(2, spec_in(folder.path(), {{"run.name", "all"}, {"run.resume_from_checkpoint", from.c_str()}}), fine_tune);
  CHECK(final_weights.take() == backbone_and_rank_0s_head());
  run_on(2,
         spec_in(folder.path(), {{"run.name", "tuned"},
                                 {"run.resume_from_checkpoint", from.c_str()},
                                 {"run.resume_tensors", "model/backbone"}}),
         fine_tune);
  CHECK(final_weights.take() == backbone_and_rank_0s_head());
}

TEST_CASE("an optional tensor that the checkpoint lacks has rank 0's values on all ranks") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), save_backbone);
  run_on(2, spec_in(folder.path(), {{"loop.num_epochs", "1"}}), fine_tune);
  CHECK(final_weights.take() == backbone_and_rank_0s_head());
}
