#include "config/stop_rules.hpp"

#include <cmath>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using Catch::Contains;
using trainrt::Options;
using trainrt::UsageError;
using trainrt::config::StopRules;

namespace {

Options stop(std::initializer_list<std::pair<const char*, const char*>> keys) {
  Options options;
  for (const auto& [key, value] : keys) options.set(key, {value, "train.ini:7"});
  return options;
}

}  // namespace

TEST_CASE("a metric that reaches its limit ends the run with a reason") {
  StopRules rules(stop({{"accuracy", "0.9"}, {"loss", "<= 0.1"}}));
  CHECK_FALSE(rules.check(1, {{"accuracy", 0.89}, {"loss", 0.11}}));
  CHECK(rules.check(2, {{"accuracy", 0.9}, {"loss", 0.5}}) == "accuracy = 0.9 >= 0.9");
  CHECK(rules.check(2, {{"accuracy", 0.1}, {"loss", 0.1}}) == "loss = 0.1 <= 0.1");
  CHECK_FALSE(rules.check(3, {{"accuracy", std::nan("")}, {"loss", std::nan("")}}));
}

TEST_CASE("training_iteration ends a run after that number of reports") {
  StopRules rules(stop({{"training_iteration", "3"}}));
  CHECK_FALSE(rules.check(2, {}));
  CHECK(rules.check(3, {}) == "training_iteration = 3 >= 3");
  CHECK(rules.missing({}).empty());
}

TEST_CASE("patience ends a run after that number of reports without an improvement by more than delta") {
  StopRules rules(stop({{"patience", "2"}, {"patience_metric", "loss"}, {"patience_delta", "0.1"}}));
  CHECK_FALSE(rules.check(1, {{"loss", 1.0}}));
  CHECK_FALSE(rules.check(2, {{"loss", 0.95}}));  // not by more than 0.1
  CHECK_FALSE(rules.check(3, {{"loss", 0.8}}));   // an improvement: the count restarts
  CHECK_FALSE(rules.check(4, {{"loss", 0.8}}));
  const auto reason = rules.check(5, {{"loss", std::nan("")}});
  REQUIRE(reason);
  CHECK_THAT(*reason, Contains("loss has not improved on 0.8 for 2 reports"));
}

TEST_CASE("patience_order max counts higher values as improvements, and ignores an initial NaN") {
  StopRules rules(stop({{"patience", "2"}, {"patience_metric", "accuracy"}, {"patience_order", "max"}}));
  CHECK_FALSE(rules.check(1, {{"accuracy", std::nan("")}}));
  CHECK_FALSE(rules.check(2, {{"accuracy", -5}}));
  CHECK_FALSE(rules.check(3, {{"accuracy", -4}}));
  CHECK_FALSE(rules.check(4, {{"accuracy", -4}}));
  CHECK(rules.check(5, {{"accuracy", -6}}));
}

TEST_CASE("the state of the rules is restored from a checkpoint") {
  const auto options = stop({{"patience", "3"}, {"patience_metric", "loss"}});
  StopRules first(options, "settings"), second(options, "settings"), changed(options, "other settings");
  CHECK_FALSE(first.check(1, {{"loss", 1.0}}));
  CHECK_FALSE(first.check(2, {{"loss", 2.0}}));
  first.note_end("enough");
  const auto hand_over = [&](StopRules& to) {
    trainrt::State from_state, to_state;
    first.attach(from_state);
    to.attach(to_state);
    for (std::size_t i = 0; i < from_state.values().size(); ++i)
      std::visit(
          [&](auto* target) { *target = **std::get_if<std::decay_t<decltype(target)>>(&from_state.values()[i].value); },
          to_state.values()[i].value);
  };
  hand_over(second);
  hand_over(changed);
  CHECK(second.noted_end() == "enough");
  CHECK(changed.noted_end().empty());
  CHECK_FALSE(second.check(3, {{"loss", 2.0}}));
  CHECK(second.check(4, {{"loss", 2.0}}));
}

TEST_CASE("an invalid rule is an error with its key and line") {
  CHECK_THROWS_WITH(StopRules(stop({{"loss", "small"}})),
                    Contains("train.ini:7") && Contains("stop.loss") && Contains("small"));
  CHECK_THROWS_WITH(StopRules(stop({{"patience", "0"}, {"patience_metric", "loss"}})),
                    Contains("patience in [stop]") && Contains("1 or more"));
  CHECK_THROWS_WITH(StopRules(stop({{"patience", "2"}})), Contains("patience_metric"));
  CHECK_THROWS_WITH(StopRules(stop({{"patience_metric", "loss"}})), Contains("requires stop.patience,"));
  CHECK_THROWS_WITH(StopRules(stop({{"patience", "2"}, {"patience_metric", "a"}, {"patience_order", "up"}})),
                    Contains("one of: max, min"));
  CHECK_THROWS_WITH(StopRules(stop({{"patience", "2"}, {"patience_metric", "a"}, {"patience_detla", "1"}})),
                    Contains("patience_detla") && Contains("patience_delta"));
}

TEST_CASE("metrics that are missing from a report are returned") {
  const StopRules rules(stop({{"acuracy", "0.9"}, {"patience", "2"}, {"patience_metric", "los"}}));
  CHECK(rules.missing({{"accuracy", 1}, {"loss", 1}}) == std::vector<std::string>{"acuracy", "los"});
}
