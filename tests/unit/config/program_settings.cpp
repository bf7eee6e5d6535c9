#include "config/program_settings.hpp"

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "config/launch_settings.hpp"

using namespace trainrt;
using namespace trainrt::config;
using Catch::Matchers::Contains;

namespace {

RunSpec base(std::string_view origin_of_name = "x.ini:2") {
  Options given;
  given.set("run.name", {"config", std::string(origin_of_name)});
  given.set("run.storage_path", {"/runs", "default"});
  given.set("train.program", {"true", "x.ini:4"});
  given.set("checkpoint.num_to_keep", {"5", "x.ini:6"});
  given.set("failure.max_failures", {"1", std::string(command_line)});
  auto spec = make_run_spec(given);
  spec.train.command = {"true"};
  return spec;
}

struct Requested {
  RunSpec spec;
  std::vector<SettingChange> changes;
};

Requested requested(const std::map<std::string, std::string>& settings, int number = 1, const RunSpec& of = base()) {
  Requested result;
  result.spec = requested_spec(of, settings, number, result.changes);
  return result;
}

}  // namespace

TEST_CASE("settings of a program override the config file, and the command line overrides them") {
  const auto [spec, changes] = requested({{"run.name", "mine"},
                                          {"checkpoint.num_to_keep", "2"},
                                          {"failure.max_failures", "9"},
                                          {"checkpoint.score_attribute", "loss"}});
  CHECK(spec.run_dir == "/runs/mine");
  CHECK(spec.run.is_opened_by_program);
  CHECK(spec.train.command == std::vector<std::string>{"true"});
  CHECK(spec.checkpoint.num_to_keep == 2);
  CHECK(spec.checkpoint.score_attribute == "loss");
  CHECK(spec.failure.max_failures == 1);
  REQUIRE(changes.size() == 3);  // without keys that the config does not set
  CHECK(changes[0].key == "checkpoint.num_to_keep");
  CHECK(changes[0].from == "'5'");
  CHECK(changes[0].to == "'2'");
  CHECK_FALSE(changes[0].is_overruled);
  CHECK(changes[1].key == "failure.max_failures");
  CHECK(changes[1].is_overruled);
  CHECK(requested({{"checkpoint.num_to_keep", "5"}}).changes.empty());
}

TEST_CASE("defaults of a program apply to keys that are not set elsewhere") {
  std::vector<SettingChange> changes;
  const auto spec = requested_spec(
      base(), {{"checkpoint.score_attribute", "loss"}}, 1, changes,
      {{"checkpoint.num_to_keep", "2"}, {"checkpoint.score_attribute", "accuracy"}, {"metrics.sinks", "csv, tensorboard"}});
  CHECK(spec.checkpoint.num_to_keep == 5);
  CHECK(spec.checkpoint.score_attribute == "loss");
  CHECK(spec.metrics.sinks == std::vector<std::string>{"csv", "tensorboard"});
  CHECK(changes.empty());
  CHECK_THROWS_AS(requested_spec(base(), {}, 1, changes, {{"train.program", "false"}}), UsageError);
}

TEST_CASE("a second run of a program gets another name") {
  CHECK(requested({}, 1).spec.run.name == "config");
  CHECK(requested({}, 2).spec.run.name == "config-2");
  CHECK(requested({{"run.name", "mine"}}, 2).spec.run.name == "mine");
  CHECK(requested({{"run.name", "mine"}}, 3, base(command_line)).spec.run.name == "config-3");
  auto renamed = base("default");
  rename(renamed, "of-rank-0");
  const auto generated = requested({}, 2, renamed);
  CHECK(generated.spec.run.name == "of-rank-0-2");
  CHECK(generated.changes.empty());
}

TEST_CASE("a program cannot set keys that must be set before it starts") {
  for (const std::string key :
       {"train.program", "program.env", "scaling.backend", "failure.launch_timeout", "run.output", "nothing"})
    CHECK_THROWS_WITH(requested({{key, "1"}}), Contains(key) && Contains("before the program starts"));
  CHECK_THROWS_WITH(requested({{"checkpoint.num_to_kep", "1"}}), Contains("the program") && Contains("num_to_keep"));
  CHECK_THROWS_WITH(requested({{"checkpoint.num_to_keep", "two"}}),
                    Contains("the program") && Contains("checkpoint.num_to_keep"));
  CHECK_THROWS_AS(requested({{"run.name", "../up"}}), UsageError);
}

TEST_CASE("launch settings keep values and origins, without [train], [program] and defaults") {
  const auto settings = launch_settings_from(launch_settings_text(base().given));
  CHECK(settings.keys() == std::vector<std::string>{"checkpoint.num_to_keep", "failure.max_failures", "run.name"});
  CHECK(settings.text("run.name") == "config");
  CHECK(settings.find("checkpoint.num_to_keep")->origin == "x.ini:6");
  CHECK(settings.find("failure.max_failures")->origin == command_line);
  CHECK_THROWS_WITH(launch_settings_from("[[1]]"), Contains("TRAINRT_SETTINGS"));
}

TEST_CASE("program.stage and program.progress are errors with program.has_trainer") {
  const auto spec_with = [](const char* key, const char* value) {
    auto given = base().given;
    given.set("program.has_trainer", {"true", "x.ini:7"});
    given.set(key, {value, "x.ini:8"});
    return make_run_spec(given);
  };
  CHECK(spec_with("checkpoint.async", "false").program.has_trainer);
  CHECK_THROWS_WITH(spec_with("program.stage", "/tree"), Contains("x.ini:7") && Contains("program.stage"));
  CHECK_THROWS_WITH(spec_with("program.progress", "step (?<step>\\d+)"), Contains("program.progress"));
}
