#include "data/order/epoch_order.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <catch2/catch.hpp>
#include <trainrt/random.hpp>

using namespace trainrt;
using data::EpochOrder;

namespace {

std::vector<std::uint64_t> run_of(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> positions(count);
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

}  // namespace

TEST_CASE("a shuffled order holds every sample once, and depends on run seed, dataset and epoch") {
  const auto order = [](std::uint64_t seed, const char* name, std::int64_t epoch) {
    const auto shuffled = EpochOrder::shuffled(100, data::order_seed(seed, name, epoch));
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = 0; i < shuffled.size(); ++i) samples.push_back(shuffled[i]);
    return samples;
  };
  const auto first = order(1, "train", 0);
  CHECK(first == order(1, "train", 0));
  CHECK(first != order(2, "train", 0));
  CHECK(first != order(1, "test", 0));
  CHECK(first != order(1, "train", 1));
  auto sorted = first;
  std::ranges::sort(sorted);
  CHECK(sorted == run_of(0, 100));
}

TEST_CASE("a computed order visits every sample once, in another order for each seed") {
  for (const std::uint64_t size : {1, 2, 3, 4, 5, 16, 17, 1000, 65537}) {
    CAPTURE(size);
    std::set<std::uint64_t> samples;
    const auto order = data::Permutation(size, 3);
    for (std::uint64_t i = 0; i < size; ++i) samples.insert(order[i]);
    CHECK(samples.size() == size);
    CHECK(*samples.rbegin() == size - 1);
  }
  const auto one = data::Permutation(1000, 1), other = data::Permutation(1000, 2);
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) same += one[i] == other[i] || one[i] == i ? 1 : 0;
  CHECK(same < 20);
}

TEST_CASE("billions of shuffled samples take neither memory nor time") {
  for (const std::uint64_t size : {std::uint64_t{1} << 20, (std::uint64_t{1} << 32) + 1, std::uint64_t{1} << 62}) {
    const auto order = EpochOrder::shuffled(size, 7);
    CHECK(order[0] < size);
    CHECK(order[0] != order[1]);
    CHECK(order[size - 1] < size);
    CHECK(order[size] == order[0]);
  }
}

TEST_CASE("a shuffle has every sample once just below and above the size from which it is computed") {
  for (const auto size : {data::Shuffle::min_computed - 1, data::Shuffle::min_computed}) {
    const auto order = EpochOrder::shuffled(size, 7);
    std::vector<bool> seen(size);
    for (std::uint64_t at = 0; at < size; ++at) seen[order[at]] = true;
    CHECK(std::ranges::count(seen, false) == 0);
  }
  const auto size = data::Shuffle::min_computed;
  CHECK(EpochOrder::shuffled(size, 7)[5] == data::Permutation::quick(size, 7)[5]);
  CHECK(EpochOrder::legacy_shuffled(size, 7)[5] != data::Permutation::quick(size, 7)[5]);
  CHECK(EpochOrder::legacy_shuffled(size - 1, 7)[5] == EpochOrder::shuffled(size - 1, 7)[5]);
  CHECK(EpochOrder::legacy_shuffled(std::uint64_t{1} << 40, 7)[5] == data::Permutation(std::uint64_t{1} << 40, 7)[5]);
}

TEST_CASE("the shuffled order never changes from one version of trainrt to the next") {
  const auto order = EpochOrder::shuffled(10, data::order_seed(42, "train", 3));
  std::vector<std::uint64_t> samples;
  for (std::uint64_t i = 0; i < 10; ++i) samples.push_back(order[i]);
  CHECK(samples == std::vector<std::uint64_t>{7, 2, 6, 5, 8, 4, 9, 0, 3, 1});
}

TEST_CASE("a shuffle puts every sample at every position equally often") {
  constexpr int size = 6, rounds = 60000;
  std::vector<int> seen(size * size);
  for (int round = 0; round < rounds; ++round) {
    const auto order = EpochOrder::shuffled(size, data::order_seed(7, "train", round));
    for (std::uint64_t at = 0; at < size; ++at) ++seen[at * size + order[at]];
  }
  for (const int count : seen) CHECK(std::abs(count - rounds / size) < 500);  // 5 standard deviations are 456
}

TEST_CASE("without shuffling samples come in ascending order, which starts again after its end") {
  const auto order = EpochOrder::identity(3);
  CHECK(order[0] == 0);
  CHECK(order[2] == 2);
  CHECK(order[3] == 0);
  CHECK(order[7] == 1);
}

TEST_CASE("an order in blocks visits every sample once, from few blocks at a time") {
  Random random(2026, 3);
  for (int i = 0; i < 300; ++i) {
    const auto size = 1 + random.below(400);
    const data::Blocks blocks{1 + random.below(40), 1 + random.below(6)};
    CAPTURE(size, blocks.samples, blocks.window);
    const auto order = EpochOrder::in_blocks(size, static_cast<std::uint64_t>(i), blocks);
    const data::BlockOrder windows(size, static_cast<std::uint64_t>(i), blocks);
    std::set<std::uint64_t> seen;
    std::map<std::uint64_t, std::set<std::uint64_t>> blocks_of;
    for (std::uint64_t at = 0; at < size; ++at) {
      seen.insert(order[at]);
      blocks_of[windows.window_of(at)].insert(order[at] / blocks.samples);
    }
    REQUIRE(seen.size() == size);
    REQUIRE(*seen.rbegin() == size - 1);
    for (std::uint64_t first = 0; first < size; first += 1 + random.below(size)) {  // also beyond the end
      std::vector<std::uint64_t> listed(1 + random.below(2 * size)), expected;
      order.list(first, listed);
      for (std::uint64_t at = 0; at < listed.size(); ++at) expected.push_back(order[first + at]);
      REQUIRE(listed == expected);
    }
    for (const auto& [window, met] : blocks_of)
      REQUIRE(met.size() <= blocks.window + 1);  // plus 1 for the samples after the last complete block
  }
}

TEST_CASE("permuting many numbers at once equals permuting each alone, in orders of all kinds") {
  for (const std::uint64_t size : {1U, 2U, 5U, 64U, 257U, 4096U, 4097U, 70000U})
    for (const auto& permutation : {data::Permutation(size, 9), data::Permutation::quick(size, 9)}) {
      std::vector<std::uint64_t> numbers(std::min<std::uint64_t>(size, 1001));
      std::iota(numbers.begin(), numbers.end(), size - numbers.size());
      permutation.map(numbers);
      for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(numbers[i] == permutation[size - numbers.size() + i]);
    }
  constexpr auto large = data::Shuffle::min_computed;
  const auto parts = data::mixed_parts(std::vector<std::uint64_t>{30, 70}, std::vector<double>{1, 1});
  for (const auto& order : {EpochOrder::identity(100), EpochOrder::shuffled(100, 4), EpochOrder::shuffled(large, 4),
                            EpochOrder::mixed(100, parts, 4, 1)}) {
    const auto first = order.size() - 70;
    std::vector<std::uint64_t> listed(250);
    order.list(first, listed);
    for (std::uint64_t at = 0; at < listed.size(); ++at) REQUIRE(listed[at] == order[first + at]);
  }
}

TEST_CASE("the order in blocks differs from epoch to epoch, and never from one version of trainrt to the next") {
  const auto order = EpochOrder::in_blocks(10, data::order_seed(42, "train", 3), {2, 2});
  const auto other = EpochOrder::in_blocks(10, data::order_seed(42, "train", 4), {2, 2});
  std::vector<std::uint64_t> samples, others;
  for (std::uint64_t i = 0; i < 10; ++i) samples.push_back(order[i]), others.push_back(other[i]);
  CHECK(samples != others);
  CHECK(samples == std::vector<std::uint64_t>{5, 6, 4, 7, 0, 2, 3, 1, 9, 8});
}

TEST_CASE("in an order in blocks every sample comes in every part of the epoch about equally often") {
  constexpr std::uint64_t size = 103, parts = 4, rounds = 4000;
  std::vector<int> seen(size * parts);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto order = EpochOrder::in_blocks(size, data::order_seed(7, "train", static_cast<std::int64_t>(round)), {5, 4});
    for (std::uint64_t at = 0; at < size; ++at) ++seen[order[at] * parts + at * parts / size];
  }
  for (const int count : seen) CHECK(std::abs(count - static_cast<int>(rounds / parts)) < 200);  // 5 deviations are 137
}

TEST_CASE("a computed order of many samples shows no correlation, between consecutive samples or with ascending order") {
  constexpr std::uint64_t size = 100000;
  const auto five_deviations = 5 / std::sqrt(static_cast<double>(size));
  for (const auto& order : {data::Permutation(size, 5), data::Permutation::quick(size, 5)}) {
    double with_next = 0, with_own = 0;
    const auto centred = [&](std::uint64_t value) { return static_cast<double>(value) / size - 0.5; };
    for (std::uint64_t at = 0; at + 1 < size; ++at) {
      with_next += centred(order[at]) * centred(order[at + 1]);
      with_own += centred(order[at]) * centred(at);
    }
    CHECK(std::abs(12 * with_next / size) < five_deviations);
    CHECK(std::abs(12 * with_own / size) < five_deviations);
  }
}

TEST_CASE("a quick permutation has every number once, and puts each in every part equally often") {
  for (const std::uint64_t size : {1U, 2U, 3U, 17U, 64U, 1000U, 4097U}) {
    const auto order = data::Permutation::quick(size, 9);
    std::set<std::uint64_t> seen;
    for (std::uint64_t at = 0; at < size; ++at) seen.insert(order[at]);
    CHECK(seen.size() == size);
    CHECK(*seen.rbegin() == size - 1);
  }
  constexpr std::uint64_t size = 1000, parts = 10, rounds = 5000;
  std::vector<double> counts(size / 100 * parts);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto order = data::Permutation::quick(size, round);
    for (std::uint64_t at = 0; at < size; at += 7) counts[order[at] / 100 * parts + at * parts / size] += 1;
  }
  double chi_square = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    double in_part = 0;
    for (std::size_t of = 0; of < size / 100; ++of) in_part += counts[of * parts + part];
    for (std::size_t of = 0; of < size / 100; ++of)
      chi_square += std::pow(counts[of * parts + part] - in_part / 10, 2) / (in_part / 10);
  }
  CHECK(chi_square < 170);  // 90 degrees of freedom: six deviations above
}
