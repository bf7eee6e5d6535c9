#include "batch/bad_nodes.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::batch;

namespace {

/// "n2 - n1s": the nodes of attempts 1, 2, 3 in order; "-": none is to blame, "s" at the end: it was slow.
std::vector<NodeEnd> ends_at(const std::vector<std::string>& nodes) {
  std::vector<NodeEnd> ends;
  for (auto node : nodes) {
    const bool slow = node.ends_with('s');
    if (slow) node.pop_back();
    ends.push_back({static_cast<int>(ends.size()) + 1, node == "-" ? "" : node, slow, "stopped: rank 3 was slow"});
  }
  return ends;
}

struct Row {
  const char* story;
  std::vector<std::string> ends;
  std::vector<std::string> excluded;
  ExclusionRules rules;
  std::string bad;  ///< "" = none
  std::string why;
  bool fits = true;
};

constexpr ExclusionRules usual{.ends = 3, .most_nodes = 2};

}  // namespace

TEST_CASE("a node is bad if so many attempts have ended there, and it is no chance that it was there") {
  const std::vector<Row> rows = {
      {"nothing has ended", {}, {}, usual, "", ""},
      {"no node is to blame", {"-", "-", "-", "-"}, {}, usual, "", ""},
      {"twice is not three times", {"n2", "n2"}, {}, usual, "", ""},
      {"three times", {"n2", "n2", "n2"}, {}, usual, "n2", "3 attempts ended there (1, 2, 3)"},
      {"others between them", {"n2", "-", "n1", "n2", "-", "n2"}, {}, usual, "n2", "3 attempts ended there (1, 4, 6)"},
      {"it did not fail this time", {"n2", "n2", "n2", "-"}, {}, usual, "", ""},
      {"another failed this time", {"n2", "n2", "n2", "n1"}, {}, usual, "", ""},
      {"half of all", {"n1", "n3", "n1", "n2", "n2", "n2"}, {}, usual, "n2", "3 attempts ended there (4, 5, 6)"},
      {"less than half: it fails anywhere", {"n1", "n3", "n1", "n3", "n2", "n2", "n2"}, {}, usual, "", ""},
      {"what was slow has not failed", {"n2s", "n2s", "n2"}, {}, {.ends = 2, .most_nodes = 2}, "", ""},
      {"off", {"n2", "n2", "n2", "n2"}, {}, {.ends = 0, .most_nodes = 2}, "", ""},
      {"once is enough", {"n2"}, {}, {.ends = 1, .most_nodes = 2}, "n2", "1 attempt ended there (1)"},
      {"it is left out already, and had to be used", {"n2", "n2", "n2"}, {"n2"}, usual, "", ""},
      {"two others are left out", {"n2", "n2", "n2"}, {"n1", "n3"}, usual, "n2", "3 attempts ended there (1, 2, 3)", false},
      {"none may be left out", {"n2", "n2", "n2"}, {}, {.ends = 3}, "n2", "3 attempts ended there (1, 2, 3)", false},
      {"slow, once", {"-", "n3s"}, {}, usual, "n3", "stopped: rank 3 was slow"},
      {"slow, and no number of failures counts",
       {"n3s"},
       {},
       {.ends = 0, .most_nodes = 2},
       "n3",
       "stopped: rank 3 was slow"},
      {"slow, and two are left out", {"n3s"}, {"n1", "n2"}, usual, "n3", "stopped: rank 3 was slow", false}};
  for (const auto& row : rows) {
    INFO(row.story);
    const auto found = bad_node(ends_at(row.ends), row.excluded, row.rules);
    CHECK((found ? found->name : "") == row.bad);
    CHECK((found ? found->why : "") == row.why);
    if (found) CHECK(found->fits == row.fits);
  }
}

TEST_CASE("of many ends the last are named") {
  const auto found = bad_node(ends_at(std::vector<std::string>(30, "n2")), {}, usual);
  REQUIRE(found);
  CHECK(found->why == "30 attempts ended there (the last: 23, 24, 25, 26, 27, 28, 29, 30)");
}
