#include <array>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>
#include <trainrt/state.hpp>

using namespace trainrt;

TEST_CASE("a State refuses names that no file layout can hold") {
  std::vector<float> data(4);
  for (const auto* bad : {"", "/a", "a/", "a//b", "..", "a/../b", "./a"}) {
    State state;
    CHECK_THROWS_AS(state.tensor(bad, data), UsageError);
  }
}

TEST_CASE("a State refuses a name twice, and a name inside another") {
  std::vector<float> data(4);
  double value = 0;
  State state;
  state.tensor("model/w", data);
  CHECK_THROWS_AS(state.tensor("model/w", data), UsageError);
  CHECK_THROWS_AS(state.value("model/w", value), UsageError);
  CHECK_THROWS_AS(state.value("model", value), UsageError);
  CHECK_THROWS_AS(state.tensor("model/w/x", data), UsageError);
  CHECK_NOTHROW(state.tensor("model/ww", data));
}

TEST_CASE("a slab must lie inside its tensor") {
  std::vector<float> data(6);
  State state;
  auto& entry = state.tensor("w", TensorView{data.data(), DType::f32, {2, 3}});
  CHECK_THROWS_AS(entry.sharded(2, 0, 4), UsageError);
  CHECK_THROWS_AS(entry.sharded(0, 3, 4), UsageError);
  entry.sharded(0, 2, 4);
  CHECK(entry.global_shape == Shape{4, 3});
  CHECK(entry.offset == Shape{2, 0});
}

TEST_CASE("random numbers are Philox4x32-10 and depend on key and stream only") {
  // Known answers of the authors' Random123 distribution (kat_vectors): counter 0, key 0.
  Random zero(0, 0);
  CHECK(zero.next_u32() == 0x6627e8d5U);
  CHECK(zero.next_u32() == 0xe169c58dU);
  CHECK(zero.next_u32() == 0xbc57ac4cU);
  CHECK(zero.next_u32() == 0x9b00dbd8U);
  Random a(7, 1), same(7, 1), other(7, 2);
  const auto first = a.next_u64();
  CHECK(first == same.next_u64());
  CHECK(first != other.next_u64());
}

TEST_CASE("below() stays below and reaches every number") {
  Random random(3, 0);
  std::array<int, 5> seen{};
  for (int i = 0; i < 5000; ++i) ++seen.at(random.below(5));
  for (const int count : seen) CHECK(count > 800);
}

TEST_CASE("mix_seed tells its arguments apart") {
  CHECK(mix_seed(1, 2, 3, 4) == mix_seed(1, 2, 3, 4));
  CHECK(mix_seed(1, 2, 3, 4) != mix_seed(1, 3, 2, 4));
  CHECK(mix_seed(1, 2, 3, 4) != mix_seed(1, 2, 4, 3));
  CHECK(mix_seed(1, 2) != mix_seed(2, 1));
}
