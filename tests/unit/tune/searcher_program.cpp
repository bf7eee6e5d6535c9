#include "tune/decisions/searcher_program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::tune;
using Catch::Contains;

namespace {

Sweep sweep_of(const std::map<std::string, std::string>& space) {
  Options config;
  const auto set = [&](const std::string& key, const std::string& value) { config.set(key, {value, "tune.ini:4"}); };
  for (const auto& [key, value] : std::map<std::string, std::string>{{"run.name", "s"},
                                                                     {"run.storage_path", "/tmp"},
                                                                     {"train.function", "linear"},
                                                                     {"tune.metric", "loss"},
                                                                     {"tune.mode", "min"},
                                                                     {"tune.num_samples", "4"},
                                                                     {"tune.searcher_program", "cat"}})
    set(key, value);
  for (const auto& [key, value] : space) set("tune.space." + key, value);
  return Sweep(config);
}

Sweep four_kinds() {
  return sweep_of({{"lr", "loguniform(0.1, 10)"},
                   {"width", "randint(2, 8)"},
                   {"optimizer", "choice(sgd, adamw)"},
                   {"epochs", "grid(1, 2)"}});
}

}  // namespace

TEST_CASE("a searcher program gets the space and all trials, and its answer sets the trial's keys") {
  const auto sweep = four_kinds();
  History history;
  history.take(1, begin_record(0, 1, 1, {{"loop.lr", "0.5"}}));
  history.take(1, end_record({.trial = 0, .attempt = 1, .iterations = 3, .last = 0.4, .best = 0.25}));
  history.take(2, begin_record(1, 1, 1, {{"loop.lr", "2"}}));
  const auto question = nlohmann::json::parse(question_of(sweep, 2, history));
  CHECK(question.at("mode") == "min");
  CHECK(question.at("space").size() == 3);
  CHECK(question.at("space").at("loop.lr") ==
        nlohmann::json::parse(R"({"type":"real","low":0.1,"high":10.0,"step":0.0,"log":true})"));
  CHECK(question.at("space").at("loop.optimizer").at("values") == std::vector<std::string>{"sgd", "adamw"});
  CHECK(question.at("trials").at(0).at("value") == 0.25);
  CHECK(question.at("trials").at(1).at("value").is_null());
  CHECK(question.at("trials").at(1).at("params").at("loop.lr") == "2");
  const auto params = params_in(R"({"loop.lr": 0.75, "loop.width": 7, "loop.optimizer": "adamw", "more": 1})", sweep, 1);
  CHECK(params == Params{{"loop.lr", "0.75"}, {"loop.width", "7"}, {"loop.optimizer", "adamw"}, {"loop.epochs", "2"}});
}

TEST_CASE("an answer outside of the space is an error that names the key") {
  const auto sweep = four_kinds();
  const auto says = [&](const std::string& answer, const std::string& why) {
    INFO(answer);
    CHECK_THROWS_WITH(params_in(answer, sweep, 0), Contains(why));
  };
  says("", "did not print a JSON object");
  says("[1]", "did not print a JSON object");
  says(R"({"loop.lr": 1, "loop.width": 3})", "lacks loop.optimizer");
  says(R"({"loop.lr": 11, "loop.width": 3, "loop.optimizer": "sgd"})", "loop.lr = 11 is outside");
  says(R"({"loop.lr": 1, "loop.width": 8, "loop.optimizer": "sgd"})", "loop.width = 8 is outside");
  says(R"({"loop.lr": 1, "loop.width": 2.5, "loop.optimizer": "sgd"})", "loop.width = 2.5 is outside");
  says(R"({"loop.lr": 1, "loop.width": 3, "loop.optimizer": "sgdd"})", "is outside");
  says(R"({"loop.lr": null, "loop.width": 3, "loop.optimizer": "sgd"})", "is outside");
}
