#include <filesystem>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/result_grid.hpp>

#include "support/cpp/scratch.hpp"
#include "tune/record/history.hpp"
#include "tune/record/sweep.hpp"

using namespace trainrt;
using namespace trainrt::tune;

namespace {

Sweep sweep_in(const std::string& storage_path, const std::string& name = "sweep", const std::string& scheduler = "fifo") {
  Options config;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"run.name", name},
                                                                     {"run.storage_path", storage_path},
                                                                     {"train.function", "linear"},
                                                                     {"tune.metric", "loss"},
                                                                     {"tune.mode", "min"},
                                                                     {"tune.num_samples", "4"},
                                                                     {"tune.max_failures", "0"},
                                                                     {"tune.scheduler", scheduler},
                                                                     {"tune.asha.max_t", "9"},
                                                                     {"tune.hyperband.max_t", "9"},
                                                                     {"tune.space.lr", "uniform(0, 1)"}})
    config.set(key, {value, "sweep.ini:1"});
  return Sweep(config);
}

}  // namespace

TEST_CASE("a moved sweep continues in its new directory") {
  const test::Scratch dir;
  sweep_in(dir.path() + "/here").begin("");
  std::filesystem::rename(dir.path() + "/here", dir.path() + "/there");
  std::filesystem::rename(dir.path() + "/there/sweep", dir.path() + "/there/other");
  const auto grid = ResultGrid::from_path(dir.path() + "/there/other");
  CHECK(grid[1].path == dir.path() + "/there/other/trial_00001");
  const auto opened = Sweep::opened(dir.path() + "/there/other");
  CHECK(opened.config_of(1, {}).text("run.storage_path") == dir.path() + "/there/other");
  const auto moved = sweep_in(dir.path() + "/there", "other");
  CHECK(moved.begin("").empty());
  CHECK(moved.begin("").empty());
  CHECK(moved.params_of(3) == opened.params_of(3));
  CHECK_FALSE(std::filesystem::exists(dir.path() + "/here"));
}

TEST_CASE("a grid has every trial, in the order of their numbers, and the best one") {
  const test::Scratch dir;
  const auto sweep = sweep_in(dir.path());
  CHECK_THROWS_WITH(ResultGrid::from_path(dir.path()), Catch::Contains("is not a sweep"));
  sweep.begin("");
  CHECK_THROWS_WITH(ResultGrid::from_path(sweep.directory()).get_best_result(), Catch::Contains("has reported 'loss' yet"));
  auto writer = JournalWriter::claimed(sweep.journal());
  const auto end = [&](std::uint64_t trial, Trial::State state, std::optional<double> best) {
    writer.append(begin_record(trial, 1, 1));
    writer.append(end_record(
        {.trial = trial, .attempt = 1, .state = state, .iterations = 3, .last = best, .best = best, .why = "so"}));
  };
  end(2, Trial::State::finished, 0.25);
  end(0, Trial::State::stopped, 0.5);
  end(3, Trial::State::failed, {});
  const auto grid = ResultGrid::from_path(sweep.directory());
  REQUIRE(grid.size() == 4);
  CHECK(grid[0].state == "finished");  // by its scheduler, early
  CHECK(grid[1].state == "waiting");
  CHECK_FALSE(grid[1].is_over);
  CHECK(grid[3].is_over);
  CHECK(grid[2].path == sweep.directory() + "/trial_00002");
  CHECK(grid[2].config == sweep.params_of(2));
  CHECK(grid[2].training_iteration == 3);
  CHECK(&grid.get_best_result() == &grid[2]);
  CHECK(grid.num_errors() == 1);
  CHECK(grid.num_terminated() == 2);
}

TEST_CASE("the reason of a trial's end distinguishes an early stop from max_t, also in the records of older versions") {
  const test::Scratch dir;
  const auto reasons = [&](const std::string& scheduler) {
    const auto sweep = sweep_in(dir.path(), scheduler, scheduler);
    sweep.begin("");
    auto writer = JournalWriter::claimed(sweep.journal());
    const auto end = [&](std::uint64_t trial, Trial::State state, std::int64_t iterations, const std::string& why) {
      writer.append(begin_record(trial, 1, 1));
      writer.append(end_record({.trial = trial, .attempt = 1, .state = state, .iterations = iterations, .why = why}));
    };
    end(0, Trial::State::stopped, 9, "stopped early by the scheduler at report 9");
    end(1, Trial::State::stopped, 1, "by the scheduler, at report 1");
    end(2, Trial::State::failed, 9, "exited with 1");
    end(3, Trial::State::finished, 9, "");
    std::vector<std::string> found;
    for (const auto& trial : ResultGrid::from_path(sweep.directory())) found.push_back(trial.why);
    return found;
  };
  using Texts = std::vector<std::string>;
  CHECK(reasons("asha") == Texts{"reached max_t = 9", "stopped early by ASHA at report 1", "exited with 1", ""});
  CHECK(reasons("hyperband") == Texts{"reached max_t = 9", "stopped early by HyperBand at report 1", "exited with 1", ""});
  CHECK(reasons("median") == Texts{"stopped early by the median rule at report 9",
                                   "stopped early by the median rule at report 1", "exited with 1", ""});
}
