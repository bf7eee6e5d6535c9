#include "program/environments/visible_gpus.hpp"

#include <catch2/catch.hpp>

using namespace trainrt::program;

namespace {

using Names = std::vector<std::string>;

struct Row {
  const char* story;
  std::vector<Names> of_node;
  std::size_t local_rank;
  std::optional<Names> seen;
  const char* of_node_text;
  const char* own_text;
};

}  // namespace

TEST_CASE("a program sees the GPUs of its node, and device LOCAL_RANK is its own") {
  const std::vector<Row> rows = {
      {"one each", {{"0"}, {"1"}, {"2"}}, 1, std::nullopt, "0,1,2", "1"},
      {"two GPUs per rank: the first GPU of each rank comes first",
       {{"0", "1"}, {"2", "3"}},
       1,
       std::nullopt,
       "0,2,1,3",
       "2,3"},
      {"the GPUs that Slurm assigned, by their names", {{"4"}, {"6"}}, 0, Names{"4", "6"}, "4,6", "4"},
      {"ranks that share a GPU name it once", {{"0"}, {"0"}, {"1"}}, 1, std::nullopt, "0,1", "0"},
      {"each task sees only its own, as number 0 of its cgroup", {{"0"}, {"0"}}, 1, Names{"0"}, "0", "0"},
      {"each task sees only its own, by the variable", {{"0"}, {"1"}}, 1, Names{"1"}, "1", "1"},
      {"parts of a GPU, by their UUIDs", {{"MIG-a"}, {"MIG-b"}}, 0, Names{"MIG-a"}, "MIG-a", "MIG-a"},
      {"no GPU on the node", {{}, {}}, 0, std::nullopt, "", ""},
      {"a rank without a GPU", {{"0"}, {}}, 1, std::nullopt, "", ""}};
  for (const auto& row : rows) {
    INFO(row.story);
    CHECK(visible_gpus(row.of_node, row.local_rank, row.seen, false) == row.of_node_text);
    CHECK(visible_gpus(row.of_node, row.local_rank, row.seen, true) == row.own_text);
  }
}

TEST_CASE("GPUs have the names in CUDA_VISIBLE_DEVICES, or else their numbers") {
  CHECK(names_of_gpus(nullptr) == std::nullopt);
  CHECK(names_of_gpus("") == Names{});
  CHECK(names_of_gpus("3,GPU-5f") == Names{"3", "GPU-5f"});
  const std::vector<int> gpus = {1, 0};
  CHECK(names_of_own_gpus(gpus, Names{"3", "GPU-5f"}) == Names{"GPU-5f", "3"});
  CHECK(names_of_own_gpus(gpus, std::nullopt) == Names{"1", "0"});
  CHECK(names_of_own_gpus({}, Names{"3"}) == Names{});
}
