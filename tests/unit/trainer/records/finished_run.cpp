#include "trainer/records/finished_run.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::trainer;
using Catch::Contains;
using Texts = std::map<std::string, std::string>;

namespace {

config::RunSpec spec_of(const Texts& more) {
  Options options;
  Texts texts = {{"run.name", "r"}, {"run.storage_path", "/nowhere/runs"}, {"loop.epochs", "3"}, {"loop.lr", "0.1"}};
  if (!more.contains("train.program")) texts["train.function"] = "linear";
  for (const auto& [key, text] : more) texts[key] = text;
  for (const auto& [key, text] : texts)
    if (text != "unset") options.set(key, {text, "test"});
  return config::make_run_spec(options);
}

rundir::RunRecord finished(const config::RunSpec& spec) {
  auto record = rundir::new_run_record("r", "linear", {spec.loop.texts(), spec.texts});
  record.state = rundir::RunState::finished;
  return record;
}

/// Returns whether a start with the keys `now` has nothing to do after a run with the keys `before` has finished.
bool stays(const Texts& before, const Texts& now) { return has_finished(finished(spec_of(before)), spec_of(now)); }

}  // namespace

TEST_CASE("a finished run stays finished if only keys outside of [loop], [data.NAME] and [stop] change") {
  CHECK(stays({}, {}));
  CHECK(stays({}, {{"checkpoint.num_to_keep", "7"}, {"failure.max_failures", "9"}, {"scaling.num_workers", "4"}}));
  auto record = finished(spec_of({}));
  record.state = rundir::RunState::stopped;
  CHECK_FALSE(has_finished(record, spec_of({{"loop.lr", "0.2"}})));
}

TEST_CASE("a finished run is refused with other values, with the differences and the possible commands") {
  for (const auto& [before, now, words] : std::vector<std::tuple<Texts, Texts, std::string>>{
           {{}, {{"loop.lr", "0.2"}}, "loop.lr was '0.1', is '0.2'"},
           {{}, {{"loop.epochs", "2"}}, "loop.epochs was '3', is '2'"},
           {{}, {{"loop.lr", "unset"}}, "loop.lr was '0.1', is not set"},
           {{}, {{"run.seed", "9"}}, "run.seed was '1', is '9'"},
           {{}, {{"data.train.source", "b.h5"}}, "data.train.source was not set, is 'b.h5'"},
           {{{"data.train.source", "a.h5"}}, {{"data.train.source", "b.h5"}}, "data.train.source was 'a.h5', is 'b.h5'"},
           {{{"train.program", "t.py --epochs 3"}},
            {{"train.program", "t.py --epochs 5"}},
            "was 't.py --epochs 3', is 't.py --epochs 5'"},
           {{}, {{"stop.loss", "<= 1"}}, "stop.loss was not set, is '<= 1'"},
           {{{"stop.loss", "<= 1"}}, {{"stop.loss", "<= 2"}}, "stop.loss was '<= 1', is '<= 2'"},
           {{}, {{"loop.warmup_steps", "5"}}, "loop.warmup_steps was not set, is '5'"},
           {{{"loop.train_loop_config.lr", "1"}},
            {{"loop.train_loop_config.lr", "2"}},
            "train_loop_config.lr was '1', is '2'"}}) {
    INFO(words);
    CHECK_THROWS_AS(stays(before, now), UsageError);
    CHECK_THROWS_WITH(stays(before, now), Contains(words) && Contains("--run.name=r-2") &&
                                              Contains("--loop.epochs=N with N > 3") && Contains("rm -r /nowhere/runs/r"));
  }
}

TEST_CASE("more epochs, or a later rule of [stop], continue a finished run, with other values too") {
  CHECK_FALSE(stays({}, {{"loop.epochs", "5"}}));
  CHECK_FALSE(stays({}, {{"loop.epochs", "5"}, {"loop.lr", "0.2"}}));
  CHECK_FALSE(stays({{"loop.max_steps", "10"}}, {{"loop.max_steps", "20"}}));
  CHECK_FALSE(
      stays({{"loop.train_loop_config.model.num_epochs", "1"}}, {{"loop.train_loop_config.model.num_epochs", "2"}}));
  for (const auto* patience : {"8", "0", "unset"})
    CHECK_FALSE(stays({{"loop.early_stopping_rounds", "2"}}, {{"loop.early_stopping_rounds", patience}}));
  CHECK_FALSE(stays({{"stop.training_iteration", "3"}}, {{"stop.training_iteration", ">= 6"}}));
  CHECK_FALSE(stays({{"stop.loss", "<= 1"}}, {{"stop.loss", "<= 0.5"}}));
  CHECK_FALSE(stays({{"stop.loss", "<= 1"}}, {}));
}

TEST_CASE("a value that equals the default is not a change") {
  auto spec = spec_of({{"loop.momentum", "0.9"}});
  const auto record = finished(spec_of({}));
  spec.loop_defaults.set("momentum", {"0.9", "default"});
  CHECK(has_finished(record, spec));
}

TEST_CASE("values of a Python Trainer are not compared with a record of an older version, which lacks them") {
  CHECK(stays({}, {{"loop.train_loop_config.lr", "2"}, {"loop.train_loop_per_worker", "train"}}));
}

TEST_CASE("the command with which fit() launched the ranks is not compared with the command of a script") {
  const Texts launched = {{"train.program", "/usr/bin/python3 -m trainrt.train._fit._worker"},
                          {"loop.train_loop_per_worker", "train"}};
  const Texts script = {{"train.program", "python3 train.py"}, {"loop.train_loop_per_worker", "train"}};
  CHECK(stays(launched, script));
  CHECK(stays(script, launched));
  CHECK_THROWS_WITH(stays(launched, {{"train.program", "true"}}), Contains("train_loop_per_worker was 'train'"));
  CHECK_THROWS_WITH(stays(script, {{"train.program", "python3 other.py"}, {"loop.train_loop_per_worker", "train"}}),
                    Contains("train.program was 'python3 train.py'"));
}
