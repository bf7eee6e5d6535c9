#include "data/order/mixed_order.hpp"

#include <map>
#include <set>

#include <trainrt/error.hpp>

#include "data/section/identity.hpp"
#include "unit/data/support.hpp"

using namespace data_test;
using Catch::Contains;
using data::MixedOrder, data::MixedPart, data::mixed_parts;

namespace {

using Numbers = std::vector<std::uint64_t>;

std::vector<std::uint64_t> shares(const Numbers& sizes, const std::vector<double>& weights) {
  std::vector<std::uint64_t> found;
  for (const auto& part : mixed_parts(sizes, weights)) found.push_back(part.share);
  return found;
}

std::map<std::string, std::string> two_texts(const Scratch& scratch) {
  write(scratch / "a.txt", "a0\na1\na2\n");
  write(scratch / "b.txt", "b0\nb1\nb2\nb3\nb4\nb5\nb6\n");
  return {{"source", scratch / "a.txt, " + (scratch / "b.txt")}, {"shuffle", "true"}, {"weights", "1, 1"}};
}

}  // namespace

TEST_CASE("shares add up to the samples of all sources, by the method of largest remainders") {
  CHECK(shares({100, 900}, {0.7, 0.3}) == Numbers{700, 300});
  CHECK(shares({10, 10, 10}, {1, 1, 1}) == Numbers{10, 10, 10});
  CHECK(shares({3, 4}, {1, 1}) == Numbers{4, 3});
  CHECK(shares({5}, {0.2}) == Numbers{5});
  CHECK(shares({1ULL << 40, 1ULL << 40}, {3, 1}) == Numbers{3ULL << 39, 1ULL << 39});
}

TEST_CASE("invalid weights are errors that quote them") {
  CHECK_THROWS_WITH(shares({1, 2}, {1}), Contains("1 number") && Contains("2 sources"));
  CHECK_THROWS_WITH(shares({10, 10}, {1, 1e-9}), Contains("source 2 of 2") && Contains("too low a weight"));
  CHECK_THROWS_WITH(shares({10, 0}, {1, 1}), Contains("source 2 of 2 has no samples"));
  for (const std::string bad : {"0", "-1", "x", "nan", "inf", "", "1,,2"})
    CHECK_THROWS_WITH(data::weights_of(bad), Contains("not a number above 0"));
  CHECK(data::weights_of("0.7, 3") == std::vector<double>{0.7, 3});
}

TEST_CASE("each epoch has the share of each source, and all samples of a source come before any comes again") {
  const std::vector<MixedPart> parts = mixed_parts(Numbers{7, 93}, std::vector<double>{0.6, 0.4});
  std::map<std::uint64_t, int> times;
  std::vector<Numbers> epochs;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) {
    const MixedOrder order(parts, 3, epoch);
    epochs.emplace_back();
    for (std::uint64_t at = 0; at < 100; ++at) epochs.back().push_back(order[at]);
    CHECK(std::ranges::count_if(epochs.back(), [](auto sample) { return sample < 7; }) == 60);
    for (const auto sample : epochs.back()) ++times[sample];
    for (const auto& [first, end] : {std::pair{0, 7}, std::pair{7, 100}}) {
      int least = 1 << 30, most = 0;
      for (int sample = first; sample < end; ++sample) {
        const auto count = times[static_cast<std::uint64_t>(sample)];
        least = std::min(least, count), most = std::max(most, count);
      }
      REQUIRE(most - least <= 1);
    }
  }
  CHECK(epochs[0] != epochs[1]);
  CHECK(*std::ranges::max_element(epochs[0]) < 100);
}

TEST_CASE("sources are mixed over the complete epoch without memory, for very many samples and passes as well") {
  const MixedOrder order(mixed_parts(Numbers{10, 4'000'000'000}, std::vector<double>{1, 1}), 3, 2);
  int small = 0;
  for (std::uint64_t at = 1'000'000'000; at < 1'000'001'000; ++at) small += order[at] < 10 ? 1 : 0;
  CHECK(std::abs(small - 500) < 80);  // 5 standard deviations
}

TEST_CASE("a dataset mixes the sources between its commas, and refuses keys that cannot be combined with that") {
  const Scratch scratch;
  const auto values = two_texts(scratch);
  const auto dataset = open(values);
  CHECK(dataset->source()->size() == 10);
  std::multiset<std::uint64_t> met;
  const auto order = dataset->plan().order_of(0);
  for (std::uint64_t at = 0; at < 10; ++at) met.insert(order[at] < 3 ? 0 : 1);
  CHECK(met.count(0) == 5);
  CHECK_THAT(dataset->plan().order_text, Contains("5 of 3 and 5 of 7 samples"));
  const auto with = [&](const std::string& key, const std::string& value) {
    auto changed = values;
    changed[key] = value;
    return changed;
  };
  CHECK_THROWS_WITH(open(with("shuffle", "false")), Contains("[data.train]") && Contains("shuffle = true"));
  CHECK_THROWS_WITH(open(with("block", "2")), Contains("[data.train]") && Contains("block"));
  CHECK_THROWS_WITH(open(with("subset", "0:2")), Contains("[data.train]") && Contains("subset"));
  CHECK_THROWS_WITH(open(with("weights", "1")), Contains("[data.train]") && Contains("2 sources"));
  CHECK_THROWS_WITH(open(with("weights", "1, x")), Contains("[data.train]") && Contains("'x'"));
}

TEST_CASE("a run that began with the legacy shuffle continues with it; a new run computes the order") {
  auto dataset = open({{"format", "range"}, {"samples", "1100000"}, {"shuffle", "true"}});
  CHECK(dataset->plan().order_text == "1100000 samples, shuffled by a permutation");
  const auto computed = dataset->plan().order_of(0)[0];
  dataset->replace(data::with_legacy_shuffle(dataset->plan(), "1100001 samples, shuffled"));
  CHECK_FALSE(dataset->plan().order.legacy_shuffle);
  dataset->replace(data::with_legacy_shuffle(dataset->plan(), "1100000 samples, shuffled"));
  CHECK(dataset->plan().order_text == "1100000 samples, shuffled");
  CHECK(dataset->plan().order_of(0)[0] != computed);
  dataset = open({{"format", "range"}, {"samples", "1100000"}, {"shuffle", "true"}});
  // The text of the order is empty if the checkpoint is of a version that stored no order.
  dataset->replace(data::with_legacy_shuffle(dataset->plan(), ""));
  CHECK(dataset->plan().order.legacy_shuffle);
  dataset = open({{"format", "range"}, {"samples", "1000"}, {"shuffle", "true"}});
  CHECK(dataset->plan().order_text == "1000 samples, shuffled");
  dataset->replace(data::with_legacy_shuffle(dataset->plan(), dataset->plan().order_text));
  CHECK_FALSE(dataset->plan().order.legacy_shuffle);
}
