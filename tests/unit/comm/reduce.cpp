#include "comm/reduce.hpp"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <trainrt/error.hpp>

#include "support/cpp/communicator_contract.hpp"

using namespace trainrt;
using namespace trainrt::comm;

namespace {

/// One part per rank, `shift` elements after an aligned address.
template <class T>
struct Parts {
  std::vector<std::vector<T>> memory;
  std::vector<std::byte*> at;
  Parts(int ranks, std::size_t count, std::size_t shift) {
    for (int rank = 0; rank < ranks; ++rank) {
      memory.push_back(test::values_of<T>(rank, count + shift));
      at.push_back(reinterpret_cast<std::byte*>(memory.back().data() + shift));
    }
  }
  T* values(std::size_t part) const { return reinterpret_cast<T*>(at[part]); }
};

template <class T>
void check_sums(int ranks, std::size_t count, std::size_t shift) {
  Parts<T> parts(ranks, count, shift);
  std::vector<std::vector<T>> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.emplace_back(parts.values(static_cast<std::size_t>(rank)), parts.values(static_cast<std::size_t>(rank)) + count);
  std::size_t width = 1;
  while (width < all.size()) width *= 2;
  reduce_to(parts.at, parts.at, count, dtype_of<T>::value, Op::sum, tree_steps(ranks), ranks);
  for (std::size_t part = 0; part < all.size(); ++part)
    for (std::size_t i = 0; i < count; ++i) REQUIRE(parts.values(part)[i] == test::tree_sum(all, i, 0, width));
}

}  // namespace

TEST_CASE("reduce_to() writes the sum along the tree to every part, for any size and alignment") {
  for (const int ranks : {1, 2, 3, 5, 8})
    for (const std::size_t count : {0UL, 1UL, 15UL, 2047UL, 2048UL, 5001UL})
      for (const std::size_t shift : {0UL, 1UL}) {
        CAPTURE(ranks, count, shift);
        check_sums<float>(ranks, count, shift);
        check_sums<double>(ranks, count, shift);
        check_sums<std::int32_t>(ranks, count, shift);
        check_sums<std::int64_t>(ranks, count, shift);
      }
}

TEST_CASE("reduce_to() does not change inputs that are not outputs") {
  Parts<float> parts(3, 100, 0);
  const auto before = parts.memory;
  std::vector<float> result(100);
  auto* const out = reinterpret_cast<std::byte*>(result.data());
  reduce_to(parts.at, {&out, 1}, 100, DType::f32, Op::mean, tree_steps(3), 3);
  CHECK(parts.memory == before);
  CHECK(result[7] == ((before[0][7] + before[1][7]) + before[2][7]) / 3);
}

TEST_CASE("the minimum and the maximum of a NaN and numbers are NaN, on 2 and 3 ranks") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::size_t ranks : {2UL, 3UL})
    for (std::size_t holder = 0; holder < ranks; ++holder)
      for (const auto op : {Op::min, Op::max}) {
        std::vector<float> values(ranks, 1.0F);
        values[holder] = nan;
        std::vector<std::byte*> parts;
        for (auto& value : values) parts.push_back(reinterpret_cast<std::byte*>(&value));
        reduce_to(parts, parts, 1, DType::f32, op, tree_steps(static_cast<int>(ranks)), static_cast<int>(ranks));
        CAPTURE(ranks, holder, name_of(op));
        for (const float value : values) CHECK(std::isnan(value));
      }
}

TEST_CASE("sums of integers wrap around and their mean rounds toward zero") {
  std::int32_t a = std::numeric_limits<std::int32_t>::max(), b = 1;
  std::vector<std::byte*> parts = {reinterpret_cast<std::byte*>(&a), reinterpret_cast<std::byte*>(&b)};
  reduce_to(parts, parts, 1, DType::i32, Op::sum, tree_steps(2), 2);
  CHECK(a == std::numeric_limits<std::int32_t>::min());
  a = -4, b = -3;
  reduce_to(parts, parts, 1, DType::i32, Op::mean, tree_steps(2), 2);
  CHECK(a == -3);
}

TEST_CASE("every 16-bit pattern that is no NaN is the same after widen() and narrow()") {
  for (const auto type : {DType::f16, DType::bf16}) {
    std::vector<std::uint16_t> patterns(65536), back(65536);
    for (std::size_t i = 0; i < patterns.size(); ++i) patterns[i] = static_cast<std::uint16_t>(i);
    std::vector<float> wide(patterns.size());
    widen(reinterpret_cast<std::byte*>(patterns.data()), wide.data(), wide.size(), type);
    narrow(wide.data(), reinterpret_cast<std::byte*>(back.data()), wide.size(), type);
    for (std::size_t i = 0; i < patterns.size(); ++i)
      if (!std::isnan(wide[i])) REQUIRE(back[i] == patterns[i]);
  }
}

TEST_CASE("narrow() rounds to nearest, ties to even, and keeps NaNs") {
  const float values[] = {1.00390625F, 1.01171875F, 3.4e38F, std::bit_cast<float>(0x7f800001U)};
  std::uint16_t narrowed[4];
  narrow(values, reinterpret_cast<std::byte*>(narrowed), 4, DType::bf16);
  CHECK(narrowed[0] == 0x3f80);  // half way between 1 and the next number: rounds to the even one
  CHECK(narrowed[1] == 0x3f82);
  CHECK(narrowed[2] == 0x7f80);  // beyond the largest number: infinity
  CHECK((narrowed[3] & 0x7fU) != 0);
  CHECK((narrowed[3] & 0x7f80U) == 0x7f80U);
}

TEST_CASE("a type that cannot be reduced is an error that lists the supported types") {
  CHECK_THROWS_AS(accumulator_of(DType::u8), UsageError);
  CHECK_THROWS_WITH(accumulator_of(DType::boolean), Catch::Contains("bool") && Catch::Contains("bf16"));
}
