// Tests of DoctorRanks and of the checks of `trainrt doctor`. The ranks are threads on made-up nodes.
#include <optional>
#include <set>

#include <netinet/in.h>
#include <sys/socket.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "cli/doctor/doctor_check.hpp"
#include "core/descriptor.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::cli::doctor;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

/// Runs `function` on one rank per entry of `node_of_rank`, and returns the result of rank 0.
template <class Result>
Result on_ranks(const std::vector<int>& node_of_rank, const std::function<Result(const DoctorRanks&)>& function) {
  std::optional<Result> result;
  test::run_launched(static_cast<int>(node_of_rank.size()), [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    auto world = launch.world();
    world.node_of_rank = node_of_rank;
    derive_topology(world);
    const Environment environment;
    auto mine = function(DoctorRanks(world, *communicator, environment, {.storage = "."}));
    if (world.rank == 0) result = std::move(mine);
  });
  return *result;
}

Finding run_check_on(std::string_view name, const std::vector<int>& node_of_rank) {
  const auto checks = checks_in_order(true);
  const auto& check = find_plugin(PluginTable<Check>(checks), name, "check");
  return on_ranks<Finding>(node_of_rank, [&](const DoctorRanks& ranks) { return run_check(check, ranks); });
}

Json fail_on_rank_1(int rank) {
  if (rank == 1) throw Error("its disk is full");
  return rank * 10;
}

}  // namespace

TEST_CASE("collect() returns the error of one rank and the answers of the others on every rank") {
  const auto answers = on_ranks<Answers>({0, 0, 1}, [](const DoctorRanks& ranks) {
    return ranks.collect([&] { return fail_on_rank_1(ranks.world().rank); });
  });
  REQUIRE(answers.failures.size() == 1);
  CHECK(answers.failures[0].rank == 1);
  CHECK(answers.failures[0].text == "its disk is full");
  CHECK(answers.values == std::vector<Json>{0, nullptr, 20});
}

TEST_CASE("a probe that fails on one rank makes the check fail with its advice on every rank") {
  constexpr Check check{"disk", "the disk",
                        [](const DoctorRanks& ranks, Json&) {
                          ranks.ask([&] { return fail_on_rank_1(ranks.world().rank); });
                          return ok("well");
                        },
                        "remove files"};
  const auto finding = on_ranks<Finding>({0, 0, 1}, [&](const DoctorRanks& ranks) { return run_check(check, ranks); });
  CHECK(finding.grade == Grade::error);
  CHECK_THAT(finding.text, StartsWith("cannot check the disk: rank 1 on ") && Contains("its disk is full"));
  CHECK(finding.advice == "remove files");
}

TEST_CASE("a library that only some ranks have found is an error that says so") {
  static std::atomic<int> calls;
  calls = 0;
  const auto find_once = [] {
    const auto none = launch::FoundLibrary{{"MPICH 4.0", ""}, "", "no MPI library was found"};
    return calls++ == 0 ? launch::FoundLibrary{{"MPICH 4.0", "MPICH 4.2"}, "/lib/libmpi.so", ""} : none;
  };
  const auto finding = on_ranks<Finding>({0, 0}, [&](const DoctorRanks& ranks) {
    Json figures;
    return compare_found(ranks, figures, find_once);
  });
  CHECK(finding.grade == Grade::error);
  CHECK_THAT(finding.text, Contains("MPICH 4.2 (/lib/libmpi.so)") && Contains("not found"));
}

TEST_CASE("the lowest rank of each node answers for the node") {
  const auto answers = on_ranks<Answers>(
      {0, 1, 0, 1, 2}, [](const DoctorRanks& ranks) { return ranks.ask_nodes([&] { return Json(ranks.world().rank); }); });
  CHECK(answers.values == std::vector<Json>{0, 1, 4});
  CHECK(answers.ranks == std::vector<int>{0, 1, 4});
}

TEST_CASE("a problem of several ranks is reported once") {
  const auto text = on_ranks<std::string>({0, 0}, [](const DoctorRanks& ranks) {
    return ranks.describe({{0, "no folder"}, {1, "no folder"}});
  });
  CHECK_THAT(text, StartsWith("ranks 0, 1 on ") && Contains(": no folder"));
  CHECK(ranks_text({3}) == "rank 3");
  CHECK(ranks_text({0, 1, 2, 3, 4, 5}) == "ranks 0, 1, 2, 3 and 2 more");
  CHECK(range_text(std::vector{1, 1}, "core") == "1 core");
  CHECK(range_text(std::vector{2, 1}, "core") == "1 to 2 cores");
}

TEST_CASE("a port on which this process listens is counted until it is closed") {
  const auto ports = [] { return run_check_on("ports", {0}).figures.at("ports").get<int>(); };
  const auto before = ports();
  {
    const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener.get(), 1) == 0);
    CHECK(ports() == before + 1);
    CHECK(run_check_on("ports", {0}).figures.at("addresses").dump().find("127.0.0.1") != std::string::npos);
  }
  CHECK(ports() == before);
}

TEST_CASE("nodes with different numbers of ranks are a warning that names the option of srun") {
  CHECK(run_check_on("ranks", {0, 0, 1, 1}).grade == Grade::ok);
  const auto uneven = run_check_on("ranks", {0, 0, 1});
  CHECK(uneven.grade == Grade::warning);
  CHECK_THAT(uneven.text, Contains("1 to 2 ranks per node on 2 nodes"));
  CHECK_THAT(uneven.advice, Contains("--ntasks-per-node"));
}

TEST_CASE("the all-reduce is measured in each node that has several ranks, and between nodes where there are some") {
  const auto inside = run_check_on("all_reduce_in_node", {0, 1, 0});
  CHECK(inside.grade == Grade::ok);
  REQUIRE(inside.figures.at("nodes").size() == 1);
  CHECK(inside.figures.at("nodes")[0].at("bytes_per_second") > 1e6);
  CHECK(inside.figures.at("nodes")[0].at("right") == true);
  const auto between = run_check_on("all_reduce_between_nodes", {0, 1, 0});
  CHECK(between.figures.at("nodes") == 2);
  CHECK(between.figures.at("right") == true);
  CHECK_FALSE(run_check_on("all_reduce_between_nodes", {0, 0}).figures.contains("bytes_per_second"));
  CHECK_THAT(run_check_on("all_reduce_in_node", {0, 1}).text, Contains("nothing to measure"));
}

TEST_CASE("the report begins with the launcher, and has the checks of a program only if there is one") {
  const auto all = checks_in_order(true), general = checks_in_order(false);
  CHECK(all.front()->name == "launcher");
  REQUIRE(general.size() < all.size());
  CHECK(std::equal(general.begin(), general.end(), all.begin()));
  std::set<std::string_view> names;
  for (const auto* check : all) names.insert(check->name);
  CHECK(names.size() == all.size());
}
