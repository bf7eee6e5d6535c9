#include "checkpoint/load/box.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>

using namespace trainrt;
using checkpoint::Box;
using checkpoint::BoxCopy;

namespace {

using Random = std::mt19937_64;

std::int64_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

Box random_box(Random& random, const Shape& shape) {
  Box box;
  for (const auto extent : shape) {
    const bool whole = below(random, 3) == 0;
    const auto first = whole ? 0 : below(random, extent + 1);
    box.offset.push_back(first);
    box.shape.push_back(whole ? extent : below(random, extent - first + 1));
  }
  return box;
}

std::size_t size_of(const Box& box, std::size_t element) {
  return static_cast<std::size_t>(element_count(box.shape)) * element;
}

/// Returns the position of an element of the tensor in a box; -1 if it is outside.
std::int64_t place_in(const Box& box, const Shape& element) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < element.size(); ++axis) {
    const auto at = element[axis] - box.offset[axis];
    if (at < 0 || at >= box.shape[axis]) return -1;
    place = place * box.shape[axis] + at;
  }
  return place;
}

/// Reference implementation of BoxCopy: copies byte by byte. BoxCopy must have the same result.
std::uint64_t naive_copy(const Box& from, const std::string& source, const Box& to, std::string& target,
                         std::size_t element, std::size_t first, std::size_t last) {
  std::uint64_t shared = 0;
  Shape at = from.offset;
  for (std::int64_t n = 0; n < element_count(from.shape); ++n) {
    auto rest = n;
    for (auto axis = at.size(); axis-- > 0;) {
      at[axis] = from.offset[axis] + rest % from.shape[axis];
      rest /= from.shape[axis];
    }
    const auto place = place_in(to, at);
    if (place < 0) continue;
    shared += element;
    for (std::size_t i = 0; i < element; ++i) {
      const auto byte = static_cast<std::size_t>(n) * element + i;
      if (byte >= first && byte < last) target[static_cast<std::size_t>(place) * element + i] = source[byte];
    }
  }
  return shared;
}

}  // namespace

TEST_CASE("BoxCopy copies the intersection of two boxes for any shapes and windows") {
  const std::uint64_t seed = 5;
  Random random(seed);
  int wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    Shape shape(static_cast<std::size_t>(below(random, 5)));
    for (auto& extent : shape) extent = below(random, 8);
    const auto from = random_box(random, shape);
    const auto to = random_box(random, shape);
    const auto element = std::size_t{1} << below(random, 4);
    std::string source(size_of(from, element), '\0');
    for (auto& byte : source) byte = static_cast<char>(random());
    const auto first = static_cast<std::size_t>(below(random, static_cast<std::int64_t>(source.size()) + 1));
    const auto count = static_cast<std::size_t>(below(random, static_cast<std::int64_t>(source.size() - first) + 1));

    std::string expected(size_of(to, element), '?');
    auto found = expected;
    const auto shared = naive_copy(from, source, to, expected, element, first, first + count);
    const BoxCopy copy(from, to, element);
    copy.copy(first, std::as_bytes(std::span(source)).subspan(first, count),
              std::as_writable_bytes(std::span(found)).data());
    const bool inside = copy.begin() <= copy.end() && copy.end() <= source.size();
    wrong += found == expected && copy.bytes() == shared && inside ? 0 : 1;
  }
  INFO("seed " << seed);
  CHECK(wrong == 0);
}

TEST_CASE("begin() and end() of a copy enclose exactly the source bytes that it needs") {
  const BoxCopy copy({{0, 0}, {8, 10}}, {{2, 3}, {4, 5}}, 4);
  CHECK(copy.begin() == (2 * 10 + 3) * 4);
  CHECK(copy.end() == (5 * 10 + 8) * 4);
  CHECK(copy.bytes() == 4 * 5 * 4);
  CHECK(BoxCopy({{0}, {4}}, {{4}, {4}}, 8).bytes() == 0);
  CHECK(BoxCopy({{}, {}}, {{}, {}}, 8).bytes() == 8);
}
