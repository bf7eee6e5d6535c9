#include "trainer/watching/slow_node.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::trainer;
using Catch::Matchers::Equals;

namespace {

constexpr SlowNodeWatch::Limits limits{.ratio = 1.5, .after_s = 10};
const std::vector<std::string> hosts = {"n1", "n1", "n2", "n2"};

watch::SlowRank slow(std::size_t rank, double ratio, watch::Work work = watch::Work::forward) {
  return {.rank = rank, .work = work, .ratio = ratio, .own_s = 0.02 * ratio, .median_s = 0.02};
}

}  // namespace

TEST_CASE("a rank that is too slow for long enough is found with its node") {
  SlowNodeWatch watch(limits, hosts, "");
  for (int window = 0; window < 4; ++window) {
    CHECK(watch.found() == nullptr);
    watch.add_window(slow(3, window == 1 ? 1.62 : 1.7), 300, 2.5);
  }
  REQUIRE(watch.found() != nullptr);
  CHECK(watch.found()->node == "n2");
  CHECK_THAT(watch.found()->why, Equals("rank 3 (n2) was 1.62 times as slow as the median in forward for 1200 steps"));
}

TEST_CASE("a rank is not found if it is slow for a short time, not slow enough, or not the only slow rank") {
  const std::optional<watch::SlowRank> others[] = {slow(3, 1.49), std::nullopt, slow(1, 2)};
  for (const auto& between : others) {
    SlowNodeWatch watch(limits, hosts, "");
    for (int round = 0; round < 10; ++round) {
      watch.add_window(slow(3, 2), 300, 9);
      watch.add_window(between, 300, 9);
    }
    CHECK(watch.found() == nullptr);
  }
}

TEST_CASE("no node is found if the watch is off, nodes cannot be excluded, or node names are unknown") {
  SlowNodeWatch off({.ratio = 0, .after_s = 0}, hosts, "");
  SlowNodeWatch alone(limits, hosts, "only `trainrt supervise` can exclude nodes");
  SlowNodeWatch nameless(limits, {}, "");
  for (auto* watch : {&off, &alone, &nameless}) {
    watch->add_window(slow(3, 3), 300, 100);
    watch->add_window(slow(3, 3), 300, 100);
    CHECK(watch->found() == nullptr);
  }
}
