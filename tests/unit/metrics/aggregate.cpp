#include "metrics/aggregate.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;
using namespace trainrt::metrics;
using Catch::Contains;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Reduces the reports of all ranks as the caller does with a communicator. The maximum ignores NaN, as that of some
/// implementations does.
Record aggregated(const std::vector<Metrics>& ranks) {
  auto reduced = encode(ranks[0]);
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const auto other = encode(ranks[rank]);
    REQUIRE(other.schema_hash == reduced.schema_hash);
    for (std::size_t i = 0; i < reduced.sums.size(); ++i) reduced.sums[i] += other.sums.at(i);
    for (std::size_t i = 0; i < reduced.maxima.size(); ++i)
      reduced.maxima[i] = std::fmax(reduced.maxima[i], other.maxima.at(i));
  }
  return decode(ranks[0], reduced, 7);
}

double number(const Record& record, std::string_view key) {
  REQUIRE(record.number(key));
  return *record.number(key);
}

/// Returns 'w' if the aggregated value of the ranks' numbers is an integer, 'r' if it is a real.
char kind(const std::vector<MetricValue>& given) {
  std::vector<Metrics> ranks;
  for (const auto& value : given) ranks.push_back({{"x", value}});
  const auto record = aggregated(ranks);
  return std::holds_alternative<std::int64_t>(*record.find("x")) ? 'w' : 'r';
}

}  // namespace

TEST_CASE("numbers are averaged over the ranks unless sum, min or max is given, and texts are those of rank 0") {
  const auto record =
      aggregated({{{"loss", 1.0}, {"n", sum(2)}, {"lo", trainrt::min(5)}, {"hi", trainrt::max(-5)}, {"who", "zero"}},
                  {{"loss", 4.0}, {"n", sum(3)}, {"lo", trainrt::min(4)}, {"hi", trainrt::max(-6)}, {"who", "one"}}});
  CHECK(record.iteration == 7);
  CHECK(number(record, "loss") == 2.5);
  CHECK(number(record, "n") == 5);
  CHECK(number(record, "lo") == 4);
  CHECK(number(record, "hi") == -5);
  CHECK(std::get<std::string>(*record.find("who")) == "zero");
}

TEST_CASE("a ratio weights each rank by its count, and a rank with count 0 is ignored") {
  CHECK(number(aggregated({{{"acc", ratio(1, 1)}}, {{"acc", ratio(0, 3)}}}), "acc") == 0.25);
  CHECK(number(aggregated({{{"acc", ratio(3, 4)}}, {{"acc", ratio(0, 0)}}}), "acc") == 0.75);
  CHECK(number(aggregated({{{"acc", 0.5}}, {{"acc", Number{nan_value, Reduce::mean, 0}}}}), "acc") == 0.5);
  CHECK(std::isnan(number(aggregated({{{"acc", ratio(0, 0)}}, {{"acc", ratio(0, 0)}}}), "acc")));
}

TEST_CASE("NaN on one rank makes the result of each reduction NaN") {
  for (const auto reduce : {Reduce::mean, Reduce::sum, Reduce::min, Reduce::max})
    for (std::size_t rank = 0; rank < 3; ++rank) {
      std::vector<Metrics> ranks(3, Metrics{{"x", Number{1, reduce, 1}}});
      CHECK(number(aggregated(ranks), "x") == (reduce == Reduce::sum ? 3 : 1));
      ranks[rank] = {{"x", Number{nan_value, reduce, 1}}};
      CHECK(std::isnan(number(aggregated(ranks), "x")));
    }
}

TEST_CASE("infinities are kept by min and max") {
  CHECK(number(aggregated({{{"x", trainrt::max(infinity)}}, {{"x", trainrt::max(1)}}}), "x") == infinity);
  CHECK(number(aggregated({{{"x", trainrt::max(-infinity)}}, {{"x", trainrt::max(-infinity)}}}), "x") == -infinity);
  CHECK(number(aggregated({{{"x", trainrt::min(infinity)}}, {{"x", trainrt::min(3)}}}), "x") == 3);
}

TEST_CASE("sums, minima and maxima of integers are integers, other results are reals") {
  CHECK(kind({sum(2), sum(3)}) == 'w');
  CHECK(kind({trainrt::min(-2), trainrt::min(3)}) == 'w');
  CHECK(kind({trainrt::max(2), trainrt::max(true)}) == 'w');
  CHECK(kind({sum(2), sum(3.0)}) == 'r');
  CHECK(kind({trainrt::max(2.0), trainrt::max(3)}) == 'r');
  CHECK(kind({trainrt::min(2), trainrt::min(nan_value)}) == 'r');
  CHECK(kind({2, 4}) == 'r');
  CHECK(kind({ratio(2, 1), ratio(2, 1)}) == 'r');
}

TEST_CASE("integers beyond 2^53 are exact in an unreduced record, and reals in an aggregated one") {
  CHECK(kind({sum(max_exact_integer - 2), sum(-1)}) == 'w');
  CHECK(kind({sum(max_exact_integer), sum(1)}) == 'r');
  CHECK(kind({sum(max_exact_integer), sum(1), sum(-max_exact_integer)}) == 'r');
  CHECK(kind({trainrt::max(max_exact_integer + 1)}) == 'r');
  const auto record = unreduced_record({{"odd", max_exact_integer + 1},
                                        {"least", INT64_MIN},
                                        {"beyond", UINT64_MAX},
                                        {"yes", true},
                                        {"real", 2.0},
                                        {"n", sum(3)}},
                                       1);
  CHECK(*record.find("odd") == Record::Value(max_exact_integer + 1));
  CHECK(*record.find("least") == Record::Value(INT64_MIN));
  CHECK(*record.find("beyond") == Record::Value(static_cast<double>(UINT64_MAX)));
  CHECK(*record.find("yes") == Record::Value(std::int64_t{1}));
  CHECK(*record.find("real") == Record::Value(2.0));
  CHECK(*record.find("n") == Record::Value(std::int64_t{3}));
}

TEST_CASE("the order of the keys may differ between ranks") {
  const auto record = aggregated({{{"b", 1.0}, {"a", 10.0}, {"c", sum(1)}}, {{"a", 20.0}, {"c", sum(5)}, {"b", 3.0}}});
  CHECK(number(record, "b") == 2);
  CHECK(number(record, "a") == 15);
  CHECK(number(record, "c") == 6);
  CHECK(record.values[0].first == "b");
  CHECK(record.values[1].first == "a");
}

TEST_CASE("the numbers of a single rank are unchanged") {
  const auto record = aggregated({{{"loss", 0.1}, {"n", 3}, {"acc", ratio(2, 3)}}});
  CHECK(number(record, "loss") == 0.1);
  CHECK(number(record, "n") == 3);
  CHECK(number(record, "acc") == Approx(2.0 / 3));
}

TEST_CASE("invalid keys and weights are errors that name the key") {
  CHECK_THROWS_AS(encode({{"_pid", 1}}), UsageError);
  CHECK_THROWS_WITH(encode({{"_pid", 1}}), Contains("'_pid'") && Contains("reserved for the runtime"));
  CHECK_NOTHROW(encode({{"_metric", 1}}));  // a number that a function of a sweep returns without a name
  CHECK_THROWS_WITH(encode({{"", 1}}), Contains("empty"));
  CHECK_THROWS_WITH(encode({{"loss", 1}, {"x", 1}, {"loss", "a"}}), Contains("'loss'") && Contains("twice"));
  CHECK_THROWS_WITH(encode({{"a\nb", 1}}), Contains("control"));
  CHECK_THROWS_WITH(encode({{"acc", Number{1, Reduce::mean, -1}}}), Contains("'acc'") && Contains("weight"));
  CHECK_THROWS_WITH(encode({{"acc", Number{1, Reduce::mean, nan_value}}}), Contains("'acc'") && Contains("weight"));
}

TEST_CASE("the schema hash depends on keys, kinds and reductions, but not on values") {
  const auto hash = [](const Metrics& metrics) { return encode(metrics).schema_hash; };
  CHECK(hash({{"a", 1.0}}) == hash({{"a", 2.0}}));
  CHECK(hash({{"a", 1.0}}) == hash({{"a", 1}}));
  CHECK(hash({{"a", 1.0}}) == hash({{"a", ratio(1, 5)}}));
  CHECK(hash({{"a", 1.0}}) != hash({{"b", 1.0}}));
  CHECK(hash({{"a", 1.0}}) != hash({{"a", sum(1)}}));
  CHECK(hash({{"a", 1.0}}) != hash({{"a", "text"}}));
  CHECK(hash({{"a", 1.0}}) != hash({{"a", 1.0}, {"b", 1.0}}));
}

TEST_CASE("the first difference between ranks is described with key and rank") {
  const auto base = describe_keys({{"loss", 1.0}, {"acc", 2.0}});
  CHECK(first_difference({base, describe_keys({{"acc", 1.0}, {"loss", 3.0}})}).empty());
  CHECK_THAT(first_difference({base, base, describe_keys({{"loss", 1.0}})}),
             Contains("'acc'") && Contains("not of rank 2"));
  CHECK_THAT(first_difference({base, describe_keys({{"loss", 1.0}, {"acc", 2.0}, {"my key", 1.0}})}),
             Contains("'my key'") && Contains("of rank 1") && Contains("not of rank 0"));
  CHECK_THAT(first_difference({base, describe_keys({{"loss", sum(1)}, {"acc", 2.0}})}),
             Contains("'loss'") && Contains("mean on rank 0") && Contains("sum on rank 1"));
}
