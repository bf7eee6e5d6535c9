#include "comm/agreement.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <limits>

#include "support/cpp/ranks.hpp"

using namespace trainrt;

namespace {

constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
constexpr auto largest = std::numeric_limits<std::int64_t>::max();

/// Runs agree_min_max() on ranks that are threads; values[rank] are the numbers of a rank. Returns rank 0's result.
std::vector<comm::MinMax> over_ranks(const std::vector<std::vector<std::int64_t>>& values) {
  std::vector<std::vector<comm::MinMax>> found(values.size());
  test::run_ranks(static_cast<int>(values.size()), [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    found[rank] = comm::agree_min_max(communicator, values[rank], "numbers");
  });
  return found.front();
}

}  // namespace

TEST_CASE("agree_min_max returns the minimum and the maximum of each number over all ranks") {
  const auto found = over_ranks({{3, -7, 5}, {-2, -7, 5}, {9, -8, 5}});
  REQUIRE(found.size() == 3);
  CHECK((found[0].min == -2 && found[0].max == 9));
  CHECK((found[1].min == -8 && found[1].max == -7));
  CHECK(found[2].alike());
  CHECK_FALSE(found[1].alike());
  CHECK(over_ranks({{}, {}}).empty());
}

TEST_CASE("agree_min_max is exact for the smallest and the largest 64-bit number") {
  const auto found = over_ranks({{smallest, smallest}, {largest, smallest}});
  CHECK((found[0].min == smallest && found[0].max == largest));
  CHECK(found[1].alike());
  CHECK(found[1].min == smallest);
}

TEST_CASE("agree_min_max of one number has the same result on every rank") {
  std::array<comm::MinMax, 3> found;
  test::run_ranks(3, [&](Communicator& communicator) {
    found[static_cast<std::size_t>(communicator.rank())] = comm::agree_min_max(communicator, communicator.rank() - 1);
  });
  for (const auto& one : found) CHECK((one.min == -1 && one.max == 1));
}
