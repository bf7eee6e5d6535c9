#include "checkpoint/layout.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "checkpoint/save/agree.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::checkpoint;

namespace {

std::vector<std::uint64_t> loads(const std::vector<std::uint64_t>& bytes, std::vector<std::uint64_t> load) {
  const auto writers = assign_writers(bytes, load);
  for (std::size_t i = 0; i < bytes.size(); ++i) load[static_cast<std::size_t>(writers[i])] += bytes[i];
  return load;
}

}  // namespace

TEST_CASE("writers get about the same number of bytes") {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<std::uint64_t> bytes(1 + random() % 60);
    for (auto& b : bytes) b = random() % 1000;
    const auto load = loads(bytes, std::vector<std::uint64_t>(1 + random() % 8, 0));
    const auto total = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    const auto mean = total / load.size();
    const auto largest = *std::max_element(bytes.begin(), bytes.end());
    CHECK(*std::max_element(load.begin(), load.end()) <= mean + largest + 1);
  }
}

TEST_CASE("small tensors are assigned to the writers with the lowest load") {
  CHECK(loads({10, 10}, {100, 0, 90}) == std::vector<std::uint64_t>{100, 20, 90});
  CHECK(loads({}, {1, 2}) == std::vector<std::uint64_t>{1, 2});
}

TEST_CASE("equal tensors are assigned in turn, in the same way on every rank") {
  CHECK(assign_writers(std::vector<std::uint64_t>(5, 8), {0, 0, 0}) == std::vector<int>{0, 1, 2, 0, 1});
}

TEST_CASE("a rank writes its own slab, its own per_rank tensor, and its share of replicated tensors") {
  std::vector<float> data(8);
  State state;
  state.tensor("b", TensorView{data.data(), DType::f32, {8}});
  state.tensor("a", TensorView{data.data(), DType::f32, {8}});
  state.tensor("own", TensorView{data.data(), DType::f32, {2}}).per_rank();
  state.tensor("split", TensorView{data.data(), DType::f32, {1, 2}}).sharded(0, 0, 2);
  const auto layout = plan_layout(state, {{{Slab{{0, 0}, {1, 2}, 0}}}, {{Slab{{1, 0}, {1, 2}, 1}}}}, {0, 1});
  REQUIRE(layout.tensors.size() == 4);
  CHECK(layout.tensors[0].name == "a");
  CHECK(layout.tensors[0].slabs.front().writer != layout.tensors[1].slabs.front().writer);
  CHECK(layout.tensors[2].slabs.size() == 2);
  CHECK(layout.tensors[3].slabs[1].writer == 1);
}

TEST_CASE("a layout of one file contains the slabs of that file as in the complete layout, and no others") {
  std::vector<float> data(64);
  State state;
  state.tensor("own", TensorView{data.data(), DType::f32, {2}}).per_rank();
  state.tensor("small", TensorView{data.data(), DType::f32, {3}});
  state.tensor("split", TensorView{data.data(), DType::f32, {1, 2}}).sharded(0, 0, 6);
  const std::vector<int> files{0, 0, 1, 1, 2, 2};
  std::vector<Slab> held;
  for (int rank = 0; rank < 6; ++rank) held.push_back({{rank, 0}, {1, 2}, rank});
  LayoutPlanner all(state, files);
  all.add(held);
  const auto whole = all.finish();
  CHECK(whole.complete);
  for (int file = 0; file < 3; ++file) {
    LayoutPlanner planner(state, files, file);
    planner.add(held);
    const auto part = planner.finish();
    CHECK_FALSE(part.complete);
    CHECK(part.tensors[0].slabs.size() == 2);
    CHECK(part.tensors[2].slabs.size() == 2);
    CHECK(part.tensors[1].slabs.front().writer == whole.tensors[1].slabs.front().writer);
    for (const std::size_t tensor : {0, 2})
      for (std::size_t i = 0; i < 2; ++i) {
        const auto& slab = part.tensors[tensor].slabs[i];
        CHECK(slab.number == 2 * static_cast<std::size_t>(file) + i);
        CHECK(slab.writer == whole.tensors[tensor].slabs[slab.number].writer);
        CHECK(slab.offset == whole.tensors[tensor].slabs[slab.number].offset);
      }
  }
}

TEST_CASE("rank 0 keeps the slabs of all ranks for the combined view, and other ranks those of their own file") {
  constexpr int ranks = 4;
  std::array<bool, ranks> complete{};
  std::array<std::size_t, ranks> slabs{};
  test::run_ranks(ranks, [&](Communicator& communicator) {
    const auto rank = static_cast<std::size_t>(communicator.rank());
    float data = 0;
    State state;
    state.tensor("own", TensorView{&data, DType::f32, {1}}).per_rank();
    state.tensor("split", TensorView{&data, DType::f32, {1}}).sharded(0, communicator.rank(), ranks);
    Agreement agreement(communicator, {0, 0, 0, 1});
    agreement.update(state, Agreement::Purpose::plan);
    complete[rank] = agreement.layout().complete;
    for (const auto& tensor : agreement.layout().tensors) slabs[rank] += tensor.slabs.size();
  });
  CHECK(complete == std::array{true, false, false, false});
  CHECK(slabs == std::array<std::size_t, ranks>{8, 6, 6, 2});
}
