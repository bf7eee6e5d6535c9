// What the checks of `trainrt doctor` make of ranks that are threads, on nodes that are made up.
#include <optional>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::cli::doctor;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Runs `visit` on as many ranks as there are entries; returns what rank 0 got.
template <class Result>
Result visit(const std::vector<int>& node_of_rank, const std::function<Result(const Examination&)>& visit_one) {
  std::optional<Result> result;
  test::run_launched(static_cast<int>(node_of_rank.size()), [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    auto world = launch.world();
    world.node_of_rank = node_of_rank;
    derive_topology(world);
    const Environment environment;
    const Examination examination(world, *communicator, environment, {.storage = "."});
    auto mine = visit_one(examination);
    if (world.rank == 0) result = std::move(mine);
  });
  return *result;
}

Finding run_check(std::string_view name, const std::vector<int>& node_of_rank) {
  const auto& check = find_plugin(check_table(), name, "check");
  return visit<Finding>(node_of_rank, check.run);
}

}  // namespace

TEST_CASE("what a rank throws is its trouble, on every rank, and the others' answers stay") {
  const auto answers = visit<Answers>({0, 0, 1}, [](const Examination& examination) {
    return examination.ask([&] {
      if (examination.world().rank == 1) throw Error("its disk is full");
      return Json(examination.world().rank * 10);
    });
  });
  REQUIRE(answers.troubles.size() == 1);
  CHECK(answers.troubles[0].rank == 1);
  CHECK(answers.troubles[0].text == "its disk is full");
  CHECK(answers.of_rank == std::vector<Json>{0, nullptr, 20});
}

TEST_CASE("nodes answer by their lowest ranks, wherever those are") {
  const auto answers = visit<Answers>({0, 1, 0, 1, 2}, [](const Examination& examination) {
    return examination.ask_nodes([&] { return Json(examination.world().rank); });
  });
  CHECK(answers.of_rank == std::vector<Json>{0, 1, 4});
}

TEST_CASE("a trouble that several ranks have is described once, with their number where they are many") {
  const auto text = visit<std::string>({0, 0}, [](const Examination& examination) {
    return examination.describe({{0, "no folder"}, {1, "no folder"}});
  });
  CHECK_THAT(text, StartsWith("ranks 0, 1 on ") && Contains(": no folder"));
  CHECK(ranks_text({3}) == "rank 3");
  CHECK(ranks_text({0, 1, 2, 3, 4, 5}) == "ranks 0, 1, 2, 3 and 2 more");
}

TEST_CASE("nodes with unlike numbers of ranks are a warning that says what gives them as many") {
  CHECK(run_check("ranks", {0, 0, 1, 1}).grade == Grade::ok);
  const auto uneven = run_check("ranks", {0, 0, 1});
  CHECK(uneven.grade == Grade::warning);
  CHECK_THAT(uneven.text, Contains("1 to 2 ranks a node on 2 nodes"));
  CHECK_THAT(uneven.advice, Contains("--ntasks-per-node"));
}

TEST_CASE("the all-reduce is measured in each node that has several ranks, and between nodes where there are some") {
  const auto inside = run_check("all_reduce_in_node", {0, 1, 0});
  CHECK(inside.grade == Grade::ok);
  REQUIRE(inside.figures.at("nodes").size() == 1);
  CHECK(inside.figures.at("nodes")[0].at("bytes_per_second") > 1e6);
  CHECK(inside.figures.at("nodes")[0].at("right") == true);
  const auto between = run_check("all_reduce_between_nodes", {0, 1, 0});
  CHECK(between.figures.at("nodes") == 2);
  CHECK(between.figures.at("right") == true);
  CHECK_FALSE(run_check("all_reduce_between_nodes", {0, 0}).figures.contains("bytes_per_second"));
  CHECK_THAT(run_check("all_reduce_in_node", {0, 1}).text, Contains("nothing to measure"));
}

TEST_CASE("checks stand in the report in an order of their own") {
  const auto checks = checks_in_order();
  CHECK(checks.front()->name == "launcher");
  for (std::size_t i = 1; i < checks.size(); ++i) CHECK(checks[i - 1]->place < checks[i]->place);
}
