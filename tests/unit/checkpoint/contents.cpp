#include "checkpoint/load/contents.hpp"

#include <catch2/catch.hpp>

using namespace trainrt;
using namespace trainrt::checkpoint;
using Catch::Contains;

namespace {

/// Returns the contents of a checkpoint with a tensor of shape [4, 6] in these slabs.
Contents with_slabs(const std::vector<std::pair<Shape, Shape>>& slabs, const std::string& placement = "sharded",
                    const std::vector<int>& ranks = {}) {
  Contents contents;
  for (std::size_t i = 0; i < slabs.size(); ++i) {
    Index index;
    index.rank = ranks.empty() ? static_cast<int>(i) : ranks[i];
    index.tensors.push_back({"w", "u8", placement, {4, 6}, slabs[i].first, slabs[i].second, 0, 0});
    contents.add(index, "shard");
  }
  return contents;
}

std::string finding(const Contents& contents, int ranks) {
  const auto lines = contents.incomplete(ranks);
  return lines.empty() ? "" : lines.front();
}

}  // namespace

TEST_CASE("slabs that tile a tensor are complete") {
  CHECK(finding(with_slabs({{{0, 0}, {4, 6}}}), 3) == "");
  CHECK(finding(with_slabs({{{0, 0}, {1, 6}}, {{1, 0}, {3, 6}}}), 2) == "");
  CHECK(finding(with_slabs({{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}, {{0, 2}, {4, 1}}, {{0, 3}, {3, 3}}, {{3, 3}, {1, 3}}}),
                5) == "");
  CHECK(finding(with_slabs({{{0, 0}, {4, 6}}, {{4, 0}, {0, 6}}}), 2) == "");
}

TEST_CASE("slabs with repeated and missing elements are incomplete even if the number of elements is right") {
  CHECK_THAT(finding(with_slabs({{{0, 0}, {2, 6}}, {{0, 0}, {2, 6}}}), 2), Contains("'w'") && Contains("twice"));
  CHECK_THAT(finding(with_slabs({{{0, 0}, {2, 6}}, {{1, 0}, {2, 6}}}), 2), Contains("twice"));
  CHECK_THAT(finding(with_slabs({{{0, 0}, {2, 3}}, {{2, 3}, {2, 3}}, {{0, 0}, {4, 3}}}), 3), Contains("twice"));
  CHECK_THAT(finding(with_slabs({{{0, 0}, {2, 6}}, {{2, 0}, {1, 6}}}), 2),
             Contains("18 elements in its slabs instead of 24"));
}

TEST_CASE("a repeated rank of a per_rank tensor does not replace a missing one") {
  const std::pair<Shape, Shape> own{{0, 0}, {4, 6}};
  CHECK(finding(with_slabs({own, own, own}, "per_rank"), 3) == "");
  CHECK_THAT(finding(with_slabs({own, own, own}, "per_rank", {0, 2, 2}), 3), Contains("'w'") && Contains("twice"));
}
