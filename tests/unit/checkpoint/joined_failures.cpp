// Tests of the message for a save that failed on several ranks.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "checkpoint/save/joined_failures.hpp"

using trainrt::checkpoint::joined_failures;

TEST_CASE("ranks that failed with the same text are joined, also if its numbers differ") {
  using Texts = std::vector<std::string>;
  CHECK(
      joined_failures(Texts{"rank 0 on n1: cannot write at byte 0: full", "rank 1 on n1: cannot write at byte 64: full"}) ==
      "ranks 0-1 on n1: cannot write at byte 0: full");
  CHECK(joined_failures(Texts{"rank 0 on n1: full", "rank 1 on n1: no answer", "rank 2 on n2: full",
                              "rank 3 on n2: full"}) == "ranks 0, 2-3 on n1, n2: full; rank 1 on n1: no answer");
  CHECK(joined_failures(Texts{"rank 7 on n1: full"}) == "rank 7 on n1: full");
  CHECK(joined_failures(Texts{"no answer"}) == "no answer");
}
