#include "cli/runs/comparison_table.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using Catch::Matchers::Contains;

namespace {

view::RunSummary run_with(const std::string& name, std::map<std::string, std::string> loop) {
  view::RunSummary run;
  run.record.name = name;
  run.record.loop = std::move(loop);
  return run;
}

}  // namespace

TEST_CASE("the table of runs names the values of a script as the script does, in columns of limited width") {
  const auto text = cli::comparison_table({run_with("a", {{"train_loop_config.lr", "0.1"},
                                                          {"train_loop_config.data", "/lustre/project/images/train.h5"},
                                                          {"train_loop_per_worker", "train"}}),
                                           run_with("b", {{"train_loop_config", "{}"}, {"epochs", "5"}})});
  CHECK_THAT(text, Contains("  lr  ") && Contains("  loop.epochs  ") && Contains("  .../train.h5  "));
  CHECK_THAT(text, !Contains("train_loop") && !Contains("lustre"));
}

TEST_CASE("the title of a run names its train function or program") {
  rundir::RunRecord record;
  record.function = "linear";
  CHECK(view::train_function_text(record) == "train function linear");
  record.spec["train.program"] = "python3 train.py";
  CHECK(view::train_function_text(record) == "program python3 train.py");
  record.loop["train_loop_per_worker"] = "loop";
  CHECK(view::train_function_text(record) == "train function loop of python3 train.py");
  record.spec["train.program"] = "/usr/bin/python3 -m trainrt.train._fit._worker";
  CHECK(view::train_function_text(record) == "train function loop");
}
