// Tests of complete runs, with ranks as threads: restarts, errors and records.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "checkpoint/format/listing.hpp"
#include "rundir/records/run_record.hpp"
#include "unit/trainer/session/hash_samples.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

TEST_CASE("a finished run does nothing when started again, and continues if [loop] changes") {
  Scratch folder;
  REQUIRE(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
  const auto again = run_on(2, spec_in(folder.path()), hash_samples);
  CHECK(again.code == ExitCode::finished);
  CHECK_THAT(again.message, Contains("finished already"));
  const auto more = run_on(2, spec_in(folder.path(), {{"loop.epochs", "4"}}), hash_samples);
  CHECK_THAT(more.message, Contains("finished: 3 iterations"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->changes.size() == 1);
}

TEST_CASE("a State with other tensors than the checkpoint is refused with their names") {
  Scratch folder;
  run_on(2, spec_in(folder.path()), [](Context& ctx) {
    std::vector<float> w(4), gone(2);
    State state;
    state.tensor("model/w", w);
    state.tensor("model/gone", gone);
    ctx.restore(state);
    ctx.step();
    ctx.save();
  });
  CHECK_THROWS_WITH(run_on(2, spec_in(folder.path(), {{"loop.num_epochs", "1"}}),
                           [](Context& ctx) {
                             std::vector<float> w(5), added(2);
                             State state;
                             state.tensor("model/w", w);
                             state.tensor("model/added", added);
                             ctx.restore(state);
                           }),
                    Contains("model/w") && Contains("model/gone") && Contains("model/added"));
}

TEST_CASE("an exception of the train function is written to error.txt with its rank, and the run can resume") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(2, spec_in(folder.path()),
                           [](Context& ctx) {
                             if (ctx.world_rank() == 0) throw std::runtime_error("no such luck");
                             ctx.communicator().barrier();
                           }),
                    Contains("no such luck"));
  std::ifstream file(folder.path() + "/r/error.txt");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK_THAT(text, Contains("no such luck") && Contains("rank 0"));
  CHECK(rundir::read_run_record(folder.path() + "/r")->state == rundir::RunState::failed);
  CHECK(run_on(2, spec_in(folder.path()), hash_samples).code == ExitCode::finished);
}

TEST_CASE("checkpoint.every = N steps saves every N steps, and num_to_keep keeps the newest") {
  Scratch folder;
  run_on(2, spec_in(folder.path(), {{"checkpoint.every", "2 steps"}, {"checkpoint.num_to_keep", "3"}}), [](Context& ctx) {
    double x = 0;
    State state;
    state.value("x", x);
    ctx.restore(state);
    for (int i = 0; i < 11; ++i) {
      x += 1;
      ctx.step();
    }
    ctx.save();
  });
  const auto kept = checkpoint::list(folder.path() + "/r");
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].step == 8);
  CHECK(kept[1].step == 10);
  CHECK(kept[2].step == 11);  // by save()
}

TEST_CASE("an unknown dataset and an invalid [loop] value are errors that name them") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.dataset("trian"); }),
                    Contains("trian") && Contains("'train'"));
  CHECK_THROWS_WITH(
      run_on(1, spec_in(folder.path(), {{"loop.epochs", "many"}}), [](Context& ctx) { ctx.config<int>("epochs"); }),
      Contains("epochs") && Contains("many") && Contains("a whole number"));
  CHECK_THROWS_WITH(run_on(1, spec_in(folder.path()), [](Context& ctx) { ctx.config<double>("lr"); }), Contains("lr"));
}

TEST_CASE("a number in [loop] is returned as float if the train function requests a float") {
  Scratch folder;
  run_on(1, spec_in(folder.path(), {{"loop.lr", "0.25"}}), [](Context& ctx) {
    CHECK(ctx.config<float>("lr") == 0.25F);
    CHECK(ctx.config("momentum", 0.5F) == 0.5F);
  });
}

TEST_CASE("changes of [loop] and [data.NAME] between attempts are recorded in run.json") {
  Scratch folder;
  run_on(1, spec_in(folder.path(), {{"loop.lr", "1"}}), hash_samples);
  run_on(1, spec_in(folder.path(), {{"loop.lr", "2"}, {"loop.num_epochs", "9"}, {"data.train.noise", "0.5"}}),
         hash_samples);
  const auto changes = rundir::read_run_record(folder.path() + "/r")->changes;
  REQUIRE(changes.size() == 3);
  CHECK(changes[0].key == "loop.lr");
  CHECK(changes[2].key == "data.train.noise");
  CHECK(changes[2].to == "0.5");
}

TEST_CASE("a damaged record of an earlier attempt does not prevent a restart") {
  Scratch folder;
  run_on(1, spec_in(folder.path()), hash_samples);
  std::ofstream(folder.path() + "/r/attempts/000001.json") << "{";
  CHECK(run_on(1, spec_in(folder.path(), {{"loop.num_epochs", "1"}}), hash_samples).code == ExitCode::finished);
}

TEST_CASE("an invalid [loop] value does not remove a run that has checkpoints") {
  Scratch folder;
  const auto wants_number = [](Context& ctx) { ctx.config<int>("epochs"); };
  CHECK_THROWS(run_on(1, spec_in(folder.path(), {{"loop.epochs", "many"}}), wants_number));
  CHECK_FALSE(std::filesystem::exists(folder.path() + "/r"));
  run_on(1, spec_in(folder.path()), hash_samples);
  std::filesystem::remove_all(folder.path() + "/r/attempts");
  const auto with = [&](const char* missing) {
    return spec_in(folder.path(),
                   {{"loop.epochs", "many"}, {"failure.storage_timeout", "0.1"}, {"run.missing_checkpoints", missing}});
  };
  CHECK_THROWS_WITH(run_on(1, with("refuse"), wants_number), Contains("shows no record of an attempt"));
  CHECK_THROWS_WITH(run_on(1, with("accept"), wants_number), Contains("epochs"));
  CHECK(checkpoint::list(folder.path() + "/r").size() == 3);
}
