#include "config/declared.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "support/cpp/captured_errors.hpp"

using namespace trainrt;
using namespace trainrt::config;
using Catch::Matchers::Contains;

namespace {

void no_training(Context&) {}

constexpr LoopKey keys[] = {
    {.key = "epochs", .type = LoopType::integer, .default_value = "2", .least = 0},
    {.key = "lr", .type = LoopType::real, .required = true, .least = 0, .below = 1},
    {.key = "optimizer", .default_value = "sgd", .choices = "sgd, adamw"},
    {.key = "note"},
};
constexpr TrainFunction function{.name = "f", .train = no_training, .loop = keys, .datasets = "train, test"};

RunSpec spec_with(std::initializer_list<std::pair<const char*, const char*>> loop) {
  RunSpec spec;
  int line = 0;
  for (const auto& [key, value] : loop) spec.loop.set(key, {value, "x.ini:" + std::to_string(++line)});
  spec.data["train"];
  spec.data["test"];
  return spec;
}

RunSpec taken(RunSpec spec) {
  take_declared(declared_by(function), "f", spec);
  return spec;
}

}  // namespace

TEST_CASE("missing keys get the declared defaults, and [loop] stays as it was given") {
  const auto spec = taken(spec_with({{"lr", "0.5"}, {"epochs", "7"}}));
  CHECK(spec.loop_value("epochs")->text == "7");
  CHECK(spec.loop_value("lr")->text == "0.5");
  CHECK(spec.loop_value("optimizer")->text == "sgd");
  CHECK(spec.loop_value("note") == nullptr);
  CHECK(spec.loop.keys() == std::vector<std::string>{"epochs", "lr"});
}

TEST_CASE("a key of [loop] that is not declared or invalid is an error with its line and the valid keys or values") {
  CHECK_THROWS_WITH(taken(spec_with({{"lr", "0.5"}, {"epoch", "7"}})), Contains("x.ini:2") && Contains("'epoch'") &&
                                                                           Contains("[loop] of f") &&
                                                                           Contains("did you mean 'epochs'"));
  CHECK_THROWS_WITH(taken(spec_with({{"learning_rate", "0.5"}})), Contains("valid keys: epochs, lr, optimizer, note"));
  CHECK_THROWS_WITH(taken(spec_with({{"lr", "1"}})), Contains("x.ini:1") && Contains("from 0 to less than 1"));
  CHECK_THROWS_WITH(taken(spec_with({{"lr", "0"}, {"epochs", "-1"}})), Contains("x.ini:2") && Contains("0 or more"));
  CHECK_THROWS_WITH(taken(spec_with({{"lr", "0"}, {"optimizer", "adam"}})), Contains("x.ini:2") && Contains("sgd, adamw"));
  CHECK_THROWS_WITH(taken(spec_with({})), Contains("lr") && Contains("missing"));
}

TEST_CASE("a missing dataset that the train function declares is an error that names it") {
  auto spec = spec_with({{"lr", "0"}});
  spec.data.erase("test");
  spec.data["tset"];
  CHECK_THROWS_WITH(taken(spec), Contains("[data.test]") && Contains("did you mean 'tset'") && Contains("f requires"));
}

TEST_CASE("a dataset whose name looks like that of a required dataset gives a warning") {
  auto spec = spec_with({{"lr", "0"}});
  spec.data["trian"];
  spec.data["train_eval"];
  spec.data["other"];
  const test::CapturedErrors errors;
  warn_of_misspelled_datasets(declared_by(function), "f", spec);
  warn_of_misspelled_datasets(declared_by({.name = "g", .train = no_training}), "g", spec);
  CHECK_THAT(errors.text(),
             Contains("the train function f does not require the dataset 'trian'; did you mean [data.train]?"));
  CHECK(std::ranges::count(errors.text(), '\n') == 1);
}

TEST_CASE("a train function without declared keys accepts every key") {
  auto spec = spec_with({{"anything", "0"}});
  CHECK_NOTHROW(take_declared(declared_by({.name = "g", .train = no_training}), "g", spec));
  CHECK(spec.loop_value("anything")->text == "0");
}

TEST_CASE("a train function that accepts other keys gets them unchecked and its own keys checked") {
  auto open = function;
  open.takes_other_keys = true;
  auto spec = spec_with({{"lr", "0.5"}, {"max_depth", "6"}});
  take_declared(declared_by(open), "f", spec);
  CHECK(spec.loop_value("max_depth")->text == "6");
  CHECK(spec.loop_value("epochs")->text == "2");
  auto wrong = spec_with({{"lr", "fast"}, {"max_depth", "6"}});
  CHECK_THROWS_WITH(take_declared(declared_by(open), "f", wrong), Contains("x.ini:1") && Contains("lr"));
}
