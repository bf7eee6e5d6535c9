#include "trainer/datasets/node_shares.hpp"

#include <catch2/catch.hpp>

#include "data/section/open_dataset.hpp"
#include "launch/world.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;

namespace {

config::RunSpec spec_of(const std::string& materialize) {
  config::RunSpec spec;
  auto& options = spec.data["train"];
  for (const auto& [key, value] :
       {std::pair{"format", std::string("range")}, {"samples", std::string("1000")}, {"materialize", materialize}})
    options.set(key, {value, "train.ini:7"});
  return spec;
}

/// Returns, for each rank, its share of the node's memory for [data.train].
std::vector<data::NodeShare> shares_of(const std::vector<int>& node_of_rank, const std::string& materialize = "true") {
  std::vector<data::NodeShare> shares(node_of_rank.size());
  const auto spec = spec_of(materialize);
  test::run_launched(static_cast<int>(node_of_rank.size()), [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    auto world = launch.world();
    world.node_of_rank = node_of_rank;
    derive_topology(world);
    const auto listings = trainer::list_datasets(spec, *communicator);
    shares[static_cast<std::size_t>(world.rank)] =
        trainer::share_datasets(spec, listings, world, *communicator).at("train");
  });
  return shares;
}

/// Returns whether two shares have the same memory.
bool share_memory(const data::NodeShare& one, const data::NodeShare& other) {
  constexpr std::size_t page = 4096, word = 17;
  one.memory[page + word] = std::byte{42};
  const bool is_seen = other.memory[page + word] == std::byte{42};
  one.memory[page + word] = std::byte{0};
  return is_seen;
}

}  // namespace

TEST_CASE("the ranks of a node share memory for a dataset that is kept in memory") {
  const auto shares = shares_of({0, 0, 1, 1, 1});
  for (const auto& share : shares) REQUIRE(share.memory);
  CHECK(shares[0].ranks == 2);
  CHECK(shares[4].ranks == 3);
  CHECK(share_memory(shares[0], shares[1]));
  CHECK(share_memory(shares[2], shares[4]));
  CHECK_FALSE(share_memory(shares[0], shares[2]));
}

TEST_CASE("no memory is shared if each node has one rank, or if values are not kept in memory") {
  for (const auto& share : shares_of({0, 1, 2})) {
    CHECK_FALSE(share.memory);
    CHECK(share.ranks == 1);
  }
  for (const auto& share : shares_of({0, 0}, "false")) {
    CHECK_FALSE(share.memory);
    CHECK(share.ranks == 2);
  }
}
