#include "cli/predict/prediction_plan.hpp"

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::test;
using namespace trainrt::cli;
using Catch::Contains;

namespace {

/// Returns the plan for a checkpoint that is not in a run directory.
PredictionPlan plan_of(std::vector<std::string> words, const std::string& checkpoint) {
  static constexpr CommandOption options[] = {{"keep", "FIELD", ""}, {"dataset", "NAME", ""}};
  words.insert(words.begin(), checkpoint);
  return plan_prediction(
      parse_arguments(words, {.options = options, .min_operands = 1, .max_operands = 1, .overrides = true}));
}

class LoneCheckpoint {
 public:
  LoneCheckpoint() {
    io::make_directories(path());
    io::write_file(path() + "/manifest.json", "{}");
  }
  std::string path() const { return folder_ / "checkpoint_000001"; }
  PredictionPlan plan(std::vector<std::string> words) const { return plan_of(std::move(words), path()); }
  std::string refused(const std::vector<std::string>& words) const {
    return error_of([&] { plan(words); });
  }

 private:
  Scratch folder_;
};

const std::vector<std::string> linear_over_numbers = {"--train.function=linear", "--data.test.format=range"};

std::vector<std::string> with(std::vector<std::string> words) {
  words.insert(words.begin(), linear_over_numbers.begin(), linear_over_numbers.end());
  return words;
}

}  // namespace

TEST_CASE("the dataset is the one that keys on the command line name, without its keys for training") {
  const LoneCheckpoint checkpoint;
  const auto plan = checkpoint.plan(with({"--data.test.shuffle=true", "--data.test.samples=5", "--keep", "id, id=number"}));
  CHECK(plan.dataset == "test");
  CHECK_FALSE(plan.spec.data.at("test").has("shuffle"));
  CHECK(plan.spec.data.at("test").text("samples") == "5");
  REQUIRE(plan.kept.size() == 2);
  CHECK(plan.kept[1].field == "id");
  CHECK(plan.kept[1].name == "number");
  CHECK(checkpoint.plan({"--train.function=linear", "--data.other.format=range"}).dataset == "other");
}

TEST_CASE("the error for a missing or unsuitable value names the option that sets it") {
  const LoneCheckpoint checkpoint;
  CHECK_THAT(checkpoint.refused({}), Contains("--train.function=NAME"));
  CHECK_THAT(checkpoint.refused({"--train.function=linear"}), Contains("--data.test.source=FILE"));
  CHECK_THAT(checkpoint.refused(with({"--data.more.format=range"})), Contains("--dataset test"));
  CHECK_THAT(checkpoint.refused(with({"--dataset", "tset"})), Contains("did you mean 'test'"));
  CHECK_THAT(checkpoint.refused(with({"--keep", "=x"})), Contains("FIELD=NAME"));
  CHECK_THAT(checkpoint.refused(with({"--data.test.weights=1,2"})), Contains("each sample exactly once"));
  CHECK_THAT(checkpoint.refused(with({"--data.test.on_error=skip"})), Contains("each sample exactly once"));
}

TEST_CASE("an unknown train function is an error that suggests the nearest name") {
  const LoneCheckpoint checkpoint;
  auto plan = checkpoint.plan(with({}));
  CHECK(predicting_function(plan.spec).name == "linear");
  plan.spec.train.function = "liner";
  CHECK_THAT(error_of([&] { predicting_function(plan.spec); }), Contains("did you mean 'linear'"));
}
