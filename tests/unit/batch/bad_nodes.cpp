#include "batch/bad_nodes.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

using namespace trainrt::batch;

namespace {

/// Returns how attempts 1, 2, 3, ... ended. Each text is the node to blame, or "-" for no node; a trailing "s" marks a slow
/// node.
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
  std::string bad;  ///< expected result; "" if no node is bad
  std::string why;
  bool can_exclude = true;
};

constexpr ExclusionRules usual{.min_ends = 3, .max_nodes = 2};

}  // namespace

TEST_CASE("a node is bad if enough attempts, and at least half of all, ended there") {
  const std::vector<Row> rows = {
      {"no attempt has ended", {}, {}, usual, "", ""},
      {"no node is to blame", {"-", "-", "-", "-"}, {}, usual, "", ""},
      {"fewer ends than required", {"n2", "n2"}, {}, usual, "", ""},
      {"three times", {"n2", "n2", "n2"}, {}, usual, "n2", "3 attempts ended on this node (1, 2, 3)"},
      {"ends at other nodes in between",
       {"n2", "-", "n1", "n2", "-", "n2"},
       {},
       usual,
       "n2",
       "3 attempts ended on this node (1, 4, 6)"},
      {"the last attempt has no node to blame", {"n2", "n2", "n2", "-"}, {}, usual, "", ""},
      {"the last attempt ended at another node", {"n2", "n2", "n2", "n1"}, {}, usual, "", ""},
      {"half of all attempts",
       {"n1", "n3", "n1", "n2", "n2", "n2"},
       {},
       usual,
       "n2",
       "3 attempts ended on this node (4, 5, 6)"},
      {"less than half of all attempts", {"n1", "n3", "n1", "n3", "n2", "n2", "n2"}, {}, usual, "", ""},
      {"a slow end is not a failure", {"n2s", "n2s", "n2"}, {}, {.min_ends = 2, .max_nodes = 2}, "", ""},
      {"off", {"n2", "n2", "n2", "n2"}, {}, {.min_ends = 0, .max_nodes = 2}, "", ""},
      {"one end is enough", {"n2"}, {}, {.min_ends = 1, .max_nodes = 2}, "n2", "1 attempt ended on this node (1)"},
      {"the node is excluded already", {"n2", "n2", "n2"}, {"n2"}, usual, "", ""},
      {"two others are excluded",
       {"n2", "n2", "n2"},
       {"n1", "n3"},
       usual,
       "n2",
       "3 attempts ended on this node (1, 2, 3)",
       false},
      {"no node may be excluded",
       {"n2", "n2", "n2"},
       {},
       {.min_ends = 3},
       "n2",
       "3 attempts ended on this node (1, 2, 3)",
       false},
      {"slow, once", {"-", "n3s"}, {}, usual, "n3", "stopped: rank 3 was slow"},
      {"slow, and failures do not count", {"n3s"}, {}, {.min_ends = 0, .max_nodes = 2}, "n3", "stopped: rank 3 was slow"},
      {"slow, and two are excluded", {"n3s"}, {"n1", "n2"}, usual, "n3", "stopped: rank 3 was slow", false}};
  for (const auto& row : rows) {
    INFO(row.story);
    const auto found = bad_node(ends_at(row.ends), row.excluded, row.rules);
    CHECK((found ? found->name : "") == row.bad);
    CHECK((found ? found->why : "") == row.why);
    if (found) CHECK(found->can_exclude == row.can_exclude);
  }
}

TEST_CASE("the reason lists only the last 8 attempts") {
  const auto found = bad_node(ends_at(std::vector<std::string>(30, "n2")), {}, usual);
  REQUIRE(found);
  CHECK(found->why == "30 attempts ended on this node (the last: 23, 24, 25, 26, 27, 28, 29, 30)");
}
