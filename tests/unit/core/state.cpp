#include <array>
#include <functional>
#include <string>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>
#include <trainrt/state.hpp>

using namespace trainrt;

TEST_CASE("a State rejects names that no file layout can store") {
  std::vector<float> data(4);
  for (const auto* bad : {"", "/a", "a/", "a//b", "..", "a/../b", "./a"}) {
    State state;
    CHECK_THROWS_AS(state.tensor(bad, data), UsageError);
  }
}

TEST_CASE("a State rejects a duplicate name and a name inside another") {
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

TEST_CASE("a slab must be inside its tensor") {
  std::vector<float> data(6);
  State state;
  auto& entry = state.tensor("w", TensorView{data.data(), DType::f32, {2, 3}});
  CHECK_THROWS_AS(entry.sharded(2, 0, 4), UsageError);
  CHECK_THROWS_AS(entry.sharded(0, 3, 4), UsageError);
  entry.sharded(0, 2, 4);
  CHECK(entry.global_shape == Shape{4, 3});
  CHECK(entry.offset == Shape{2, 0});
}

TEST_CASE("a State rejects tensors that no checkpoint can store, and names them") {
  float one = 0;
  const auto view = [&](Shape shape) { return TensorView{&one, DType::f32, std::move(shape)}; };
  const auto refusal = [](const std::function<void(State&)>& put) -> std::string {
    State state;
    try {
      put(state);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  const std::int64_t half = std::int64_t{1} << 31;
  const std::string bytes = "'w' of shape";
  CHECK(refusal([&](State& s) { s.tensor("w", view(Shape(32, 1))); }).empty());
  CHECK(refusal([&](State& s) { s.tensor("w", view(Shape(31, 1))).per_rank(); }).empty());
  CHECK_THAT(refusal([&](State& s) { s.tensor("w", view(Shape(33, 1))); }), Catch::Contains("'w' has 33 axes"));
  CHECK_THAT(refusal([&](State& s) { s.tensor("w", view(Shape(32, 1))).per_rank(); }), Catch::Contains("'w' has 32 axes"));
  CHECK_THAT(refusal([&](State& s) { s.slab("w", view(Shape(33, 1)), Shape(33, 0), Shape(33, 1)); }),
             Catch::Contains("33 axes"));
  for (const Shape& shape : {Shape{half, half}, Shape{half, half, 0}, Shape{2, -1}}) {
    CHECK_THAT(refusal([&](State& s) { s.tensor("w", view(shape)); }), Catch::Contains(bytes));
    CHECK_THAT(refusal([&](State& s) { s.slab("w", view(Shape(shape.size(), 1)), Shape(shape.size(), 0), shape); }),
               Catch::Contains(bytes));
  }
  CHECK(refusal([&](State& s) { s.tensor("w", view({1, half})).sharded(0, 0, half / 8); }).empty());
  CHECK_THAT(refusal([&](State& s) { s.tensor("w", view({1, half})).sharded(0, 0, half); }), Catch::Contains(bytes));
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

TEST_CASE("below() returns every number below its bound and no other") {
  Random random(3, 0);
  std::array<int, 5> seen{};
  for (int i = 0; i < 5000; ++i) ++seen.at(random.below(5));
  for (const int count : seen) CHECK(count > 800);
}

TEST_CASE("mix_seed depends on the order of its arguments") {
  CHECK(mix_seed(1, 2, 3, 4) == mix_seed(1, 2, 3, 4));
  CHECK(mix_seed(1, 2, 3, 4) != mix_seed(1, 3, 2, 4));
  CHECK(mix_seed(1, 2, 3, 4) != mix_seed(1, 2, 4, 3));
  CHECK(mix_seed(1, 2) != mix_seed(2, 1));
}
