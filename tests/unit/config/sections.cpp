#include <array>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "config/run_spec.hpp"
#include "config/score_order.hpp"
#include "config/section.hpp"
#include "config/value_origin.hpp"

using namespace trainrt;
using namespace trainrt::config;
using Catch::Matchers::Contains;

namespace {

using Texts = std::map<std::string, std::string>;

RunSpec spec_of(Texts more, Texts texts = {{"run.name", "n"}, {"run.storage_path", "/s"}, {"train.function", "f"}}) {
  more.merge(texts);  // values of `more` take precedence
  Options options;
  for (const auto& [key, text] : more) options.set(key, {text, "x.ini:7"});
  return make_run_spec(options);
}

}  // namespace

TEST_CASE("an error of a value gets the origin of the value and its key") {
  Options given;
  given.set("train.function", {"foo", "x.ini:4"});
  given.set("run.seed", {"1", ""});
  const auto fail = [] { throw UsageError("no such function"); };
  CHECK_THROWS_WITH(with_origin(given, "train.function", fail), "x.ini:4: train.function: no such function");
  CHECK_THROWS_WITH(with_origin(given, "run.seed", fail), "no such function");
  CHECK_THROWS_WITH(with_origin(given, "run.name", fail), "no such function");
  CHECK(with_origin_of(given, "train.function", "train.function: bad") == "x.ini:4: train.function: bad");
}

TEST_CASE("a key of the train function in another section is an error that names its key of [loop]") {
  for (const auto* key : {"train.lr", "run.epochs", "data.train.batch_size"}) {
    const auto name = std::string(key).substr(std::string(key).rfind('.') + 1);
    CHECK_THROWS_WITH(spec_of({{key, "1"}}), Contains(key) && Contains("belongs in [loop]: loop." + name));
  }
}

TEST_CASE("the name of a metric tells which values are better") {
  for (const auto* name : {"loss", "val_loss", "TestLoss", "rmse", "valid-rmse", "error", "top1/err"})
    CHECK(better_by_name(name) == Better::lower);
  for (const auto* name : {"accuracy", "val_acc", "auc", "mean_reward"}) CHECK(better_by_name(name) == Better::higher);
  for (const auto* name : {"epoch", "mseed", "terror_2x", "score", ""}) CHECK(better_by_name(name) == Better::unknown);
}

TEST_CASE("every key of the config sets its own member of the spec") {
  const Texts given = {{"run.name", "other"},
                       {"run.storage_path", "/a/../b"},
                       {"run.seed", "5"},
                       {"run.resume_from_checkpoint", "/old/x"},
                       {"run.resume_iteration", "continue"},
                       {"run.resume_tensors", "a, b/*"},
                       {"run.missing_checkpoints", "accept"},
                       {"run.output", "all"},
                       {"run.callbacks", "command"},
                       {"train.function", "g"},
                       {"train.library", "lib.so"},
                       {"train.stop_signal", "INT"},
                       {"train.stop_timeout", "31"},
                       {"scaling.num_workers", "8"},
                       {"scaling.min_workers", "4"},
                       {"scaling.on_resize", "keep_batch"},
                       {"scaling.backend", "mpi"},
                       {"scaling.bucket_size", "5 MiB"},
                       {"scaling.gradient_wire", "bf16"},
                       {"scaling.deterministic", "yes"},
                       {"scaling.gpus_per_worker", "0.5"},
                       {"scaling.check_collectives", "true"},
                       {"scaling.require_same_bits", "true"},
                       {"checkpoint.every", "7 steps"},
                       {"checkpoint.num_to_keep", "6"},
                       {"checkpoint.score_attribute", "loss"},
                       {"checkpoint.score_order", "min"},
                       {"checkpoint.layout", "single"},
                       {"checkpoint.async", "false"},
                       {"checkpoint.staging_limit", "2 GiB"},
                       {"checkpoint.max_failed", "9"},
                       {"checkpoint.io_threads", "10"},
                       {"checkpoint.read_back", "on"},
                       {"checkpoint.replica_check", "warn"},
                       {"checkpoint.replica_check_every", "11 steps"},
                       {"checkpoint.same_files", "rank0"},
                       {"checkpoint.mirror", "s3://b/p"},
                       {"checkpoint.mirror_wait", "23"},
                       {"storage.s3_endpoint", "http://h:1"},
                       {"storage.s3_region", "eu"},
                       {"storage.s3_profile", "own"},
                       {"storage.s3_anonymous", "true"},
                       {"storage.purge_days", "60"},
                       {"storage.gs_endpoint", "http://g"},
                       {"metrics.sinks", "csv, other"},
                       {"metrics.detailed", "true"},
                       {"metrics.progress", "all"},
                       {"metrics.aggregate", "true"},
                       {"failure.max_failures", "12"},
                       {"failure.recovery", "live"},
                       {"failure.memory", "3 GiB"},
                       {"failure.max_requeues", "13"},
                       {"failure.max_no_progress", "14"},
                       {"failure.stop_before_end", "15 s"},
                       {"failure.hang_timeout", "16 s"},
                       {"failure.launch_timeout", "17"},
                       {"failure.collective_timeout", "18"},
                       {"failure.storage_timeout", "19"},
                       {"failure.exclude_bad_nodes", "20"},
                       {"failure.exclude_slow", "1.5"},
                       {"failure.exclude_slow_after", "21"},
                       {"failure.max_excluded_nodes", "22"},
                       {"program.env", "jax, torch"},
                       {"program.gpus", "own"},
                       {"program.interface", "ib0"},
                       {"program.stage", "/s/venv"},
                       {"program.stage_dir", "/scratch"},
                       {"program.progress", R"(step (?<step>\d+))"},
                       {"xgboost.library", "/x/libxgboost.so"},
                       {"lightgbm.library", "/l"}};
  for (const auto& option : declared_options()) {
    INFO(option.key);
    const bool excludes_others = option.key == "train.program" || option.key == "program.has_trainer";
    CHECK((given.contains(option.key) || excludes_others));
  }
  const auto spec = spec_of({}, given);
  CHECK(spec.run_dir == "/b/other");
  CHECK((spec.run.name == "other" && spec.run.storage_path == "/b" && spec.run.seed == 5));
  CHECK((spec.run.resume_from == "/old/x" && spec.run.resume_tensors == std::vector<std::string>{"a", "b/*"}));
  CHECK((spec.run.accepts_missing_checkpoints && spec.run.continues_iterations &&
         spec.run.shown_output == ShownOutput::all_ranks));
  CHECK((spec.train.function == "g" && spec.train.library == "lib.so" && spec.train.program.empty()));
  CHECK((spec.train.stop_signal == "INT" && spec.train.stop_timeout_s == 31));
  const auto& scaling = spec.scaling;
  CHECK((scaling.num_workers == 8 && scaling.min_workers == 4 && scaling.on_resize() == OnResize::keep_batch));
  CHECK((scaling.backend == "mpi" && scaling.bucket_bytes == std::uint64_t{5} << 20 && scaling.bf16_on_the_wire));
  CHECK((scaling.deterministic && scaling.gpus_per_worker == "0.5" && scaling.check_collectives));
  CHECK(scaling.require_same_bits);
  const auto& checkpoint = spec.checkpoint;
  CHECK((checkpoint.every.unit == CheckpointInterval::Unit::steps && checkpoint.every.count == 7));
  CHECK((checkpoint.num_to_keep == 6 && checkpoint.score_attribute == "loss" && !checkpoint.score_is_maximized));
  CHECK((checkpoint.layout == FileLayout::single && !checkpoint.async));
  CHECK((checkpoint.staging_bytes == std::uint64_t{2} << 30 && checkpoint.max_failed == 9 && checkpoint.io_threads == 10));
  CHECK((checkpoint.read_back && checkpoint.replica_check == OnReplicaDifference::warn &&
         checkpoint.replica_check_every.steps == 11));
  CHECK((checkpoint.mirror == "s3://b/p" && checkpoint.mirror_wait_s == 23 && checkpoint.same_files == SameFiles::rank0));
  CHECK((spec.storage.s3_endpoint == "http://h:1" && spec.storage.s3_region == "eu" && spec.storage.s3_profile == "own"));
  CHECK(spec.storage.s3_anonymous);
  CHECK(spec.storage.purge_days == 60);
  CHECK(spec.storage.gs_endpoint == "http://g");
  CHECK((spec.metrics.sinks == std::vector<std::string>{"csv", "other"} && spec.metrics.detailed &&
         spec.metrics.every_report && spec.metrics.aggregate));
  CHECK((spec.program.environments == std::vector<std::string>{"jax", "torch"} && spec.program.interface == "ib0"));
  CHECK(spec.program.gpus == "own");
  CHECK((spec.program.stage == "/s/venv" && spec.program.stage_dir == "/scratch"));
  CHECK(spec.program.progress == R"(step (?<step>\d+))");
  CHECK((spec.xgboost.library == "/x/libxgboost.so" && spec.lightgbm.library == "/l"));
  const auto& failure = spec.failure;
  CHECK((failure.recovery == Recovery::live && failure.memory_bytes == std::uint64_t{3} << 30));
  CHECK((failure.max_failures == 12 && failure.max_requeues == 13 && failure.max_no_progress == 14));
  CHECK((failure.stop_before_end.seconds == 15 && failure.hang_timeout.seconds == 16));
  CHECK((failure.launch_timeout_s == 17 && failure.collective_timeout_s == 18 && failure.storage_timeout_s == 19));
  CHECK((failure.exclude_bad_nodes == 20 && failure.exclude_slow == 1.5));
  CHECK((failure.exclude_slow_after_s == 21 && failure.max_excluded_nodes == 22));
  CHECK(spec.texts.at("failure.hang_timeout") == "16 s");
}

TEST_CASE("every default is a valid value") {
  for (const auto& option : declared_options()) {
    if (option.default_value.empty()) continue;
    INFO(option.key);
    CHECK_NOTHROW(spec_of({{option.key, option.default_value}}));
  }
}

TEST_CASE("an invalid value is an error with its key, its line and the valid values") {
  for (const auto& [key, bad, valid] :
       std::vector<std::array<const char*, 3>>{{"run.name", "a/b", "one plain name"},
                                               {"run.missing_checkpoints", "maybe", "refuse, accept"},
                                               {"run.output", "rank1", "rank0, all, none"},
                                               {"train.stop_timeout", "0", "a number of seconds, from 0.001"},
                                               {"scaling.num_workers", "-1", "a whole number, from 0"},
                                               {"scaling.bucket_size", "0 MiB", "more than 0"},
                                               {"scaling.gpus_per_worker", "many", "auto, 0, or a number"},
                                               {"checkpoint.every", "2 weeks", "'N steps'"},
                                               {"failure.hang_timeout", "soon", "'N s' with N from 0.001"}}) {
    INFO(key);
    CHECK_THROWS_WITH(spec_of({{key, bad}}),
                      Contains("x.ini:7: ") && Contains(key) && Contains(bad) && Contains("must be") && Contains(valid));
  }
}

TEST_CASE("keys that exclude each other are an error that names the line") {
  CHECK_THROWS_WITH(spec_of({{"train.program", "p"}}), Contains("x.ini:7") && Contains("remove one of them"));
  CHECK_THROWS_WITH(spec_of({{"run.resume_tensors", "a"}}), Contains("x.ini:7") && Contains("resume_from_checkpoint"));
  CHECK_THROWS_WITH(spec_of({{"scaling.num_workers", "2"}, {"scaling.min_workers", "3"}}),
                    Contains("x.ini:7") && Contains("at most scaling.num_workers = 2"));
  CHECK_THROWS_WITH(spec_of({{"scaling.min_workers", "3"}, {"scaling.on_resize", "refuse"}}),
                    Contains("remove one of them"));
  CHECK(spec_of({{"scaling.min_workers", "3"}}).scaling.on_resize() == OnResize::keep_global_batch);
  CHECK(spec_of({}).scaling.on_resize() == OnResize::same_bits);
}

TEST_CASE("with same_bits, min_workers is a number of CPUs and may exceed the number of workers") {
  const auto scaling =
      spec_of({{"scaling.num_workers", "2"}, {"scaling.min_workers", "3"}, {"scaling.on_resize", "same_bits"}}).scaling;
  CHECK(scaling.on_resize() == OnResize::same_bits);
  CHECK(scaling.has_fixed_workers());
  CHECK_FALSE(spec_of({{"scaling.min_workers", "3"}}).scaling.has_fixed_workers());
}

TEST_CASE("sections with free keys are stored unchecked under their names") {
  const auto spec = spec_of({{"sink.hdf5.interval", "3"}, {"data.train.source", "s"}, {"loop.lr", "1"}});
  CHECK(spec.sink.at("hdf5").text("interval") == "3");
  CHECK(spec.data.at("train").text("source") == "s");
  CHECK(spec.texts.at("sink.hdf5.interval") == "3");
  CHECK_THROWS_WITH(spec_of({{"sink.hdf5", "3"}}), Contains("x.ini:7") && Contains("sink.NAME.key"));
  CHECK_THROWS_WITH(spec_of({{"data./etc.source", "3"}}), Contains("x.ini:7") && Contains("[data.NAME]"));
  CHECK(spec_of({{"metrics.sinks", "none"}}).metrics.sinks.empty());
}
