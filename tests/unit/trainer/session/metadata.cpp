// Tests of metadata and files that a train function adds to checkpoints.
#include <atomic>
#include <csignal>
#include <fstream>

#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "batch/signals.hpp"
#include "checkpoint/format/listing.hpp"
#include "unit/trainer/session/hash_samples.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

void with_metadata_and_a_file(Context& ctx) {
  const auto notes = ctx.run_dir() + "/artifacts/notes-" + std::to_string(ctx.world_rank());
  int epoch = 0;
  State state;
  state.value("epoch", epoch);
  state.file("notes", notes).per_rank();
  if (!ctx.restore(state)) std::ofstream(notes) << "begun by " << ctx.world_rank() << "\n";
  ctx.checkpoint_metadata(R"({"hidden": 512, "data": "v7"})");
  while (epoch < 3) {
    ++epoch;
    std::ofstream(notes, std::ios::app) << "epoch " << epoch << "\n";
    ctx.report({{"loss", 1.0 / epoch}});
    if (epoch == stop_at_step) raise(SIGUSR1);
  }
}

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("checkpoints hold metadata and the train function's files, and a restart restores the files") {
  Scratch folder;
  const auto spec = spec_in(folder.path());
  batch::install_stop_signals();
  batch::forget_stop_signal();
  stop_at_step = 2;
  CHECK(run_on(2, spec, with_metadata_and_a_file).code == ExitCode::stopped);
  stop_at_step = -1;
  batch::forget_stop_signal();
  const auto checkpoints = checkpoint::list(spec.run_dir);
  REQUIRE_FALSE(checkpoints.empty());
  CHECK_THAT(checkpoints.back().metadata, Contains("512") && Contains("v7"));
  const auto notes = spec.run_dir + "/artifacts/notes-1";
  std::ofstream(notes, std::ios::app) << "written after the checkpoint\n";
  CHECK(run_on(2, spec, with_metadata_and_a_file).code == ExitCode::finished);
  CHECK(content_of(notes) == "begun by 1\nepoch 1\nepoch 2\nepoch 3\n");
}

TEST_CASE("checkpoints hold the run's metadata, overridden by the train function's") {
  Scratch folder;
  const auto spec = spec_in(folder.path(), {{"checkpoint.async", "false"}});
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    const auto train = [](Context& ctx) {
      double x = 0;
      State state;
      state.value("x", x);
      ctx.restore(state);
      ctx.report({{"x", 1}});
      ctx.checkpoint_metadata(ctx.metadata() == R"({"data":"v7","by":"me"})" ? R"({"by":"the function"})" : "{}");
      ctx.report({{"x", 2}});
    };
    trainer::TrainCall call{"test", train};
    call.metadata = R"({"data":"v7","by":"me"})";
    trainer::run(spec, call, launch, *communicator);
  });
  const auto checkpoints = checkpoint::list(spec.run_dir);
  REQUIRE(checkpoints.size() == 2);
  CHECK_THAT(checkpoints[0].metadata, Contains("v7") && Contains("me"));
  CHECK_THAT(checkpoints[1].metadata, Contains("v7") && Contains("the function"));
}

TEST_CASE("metadata that is not a JSON object is refused") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.checkpoint_metadata("[1]"); }),
                    Contains("JSON object"));
}
