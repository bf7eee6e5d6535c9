// Tests of how the record of a report is made from the metrics of all ranks, which are threads.
#include "trainer/reports/report_record.hpp"

#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "comm/agreement.hpp"
#include "support/cpp/ranks.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

/// Calls `make` on three ranks, and returns the results in rank order.
template <class Make>
auto on_three_ranks(Make&& make) {
  std::vector<std::invoke_result_t<Make, Communicator&>> results(3);
  run_ranks(
      3, [&](Communicator& communicator) { results[static_cast<std::size_t>(communicator.rank())] = make(communicator); });
  return results;
}

}  // namespace

TEST_CASE("aggregate_report() combines the metrics of the ranks, with the same result on each rank") {
  const auto records = on_three_ranks([](Communicator& communicator) {
    const double rank = communicator.rank();
    return trainer::aggregate_report({{"mean", rank}, {"sum", sum(rank)}}, 4, communicator);
  });
  for (const auto& record : records) {
    CHECK(record.iteration == 4);
    CHECK(record.number("mean") == 1);
    CHECK(record.number("sum") == 3);
  }
}

TEST_CASE("aggregate_report() refuses different keys with the key and the rank") {
  CHECK_THROWS_WITH(on_three_ranks([](Communicator& communicator) {
                      const bool is_last = communicator.rank() == 2;
                      return trainer::aggregate_report({{is_last ? "other" : "loss", 1.0}}, 1, communicator);
                    }),
                    Contains("loss") && Contains("rank 2"));
}

TEST_CASE("first_rank_report() returns rank 0's metrics on all ranks, and ignores other keys") {
  const auto records = on_three_ranks([](Communicator& communicator) {
    const auto name = "from " + std::to_string(communicator.rank());
    if (communicator.rank() > 0) return trainer::first_rank_report({{"other", 1.5}}, 2, communicator);
    return trainer::first_rank_report({{"integer", 7}, {"real", 0.5}, {"text", name}}, 2, communicator);
  });
  for (const auto& record : records) {
    REQUIRE(record.values.size() == 3);
    CHECK(std::get<std::int64_t>(*record.find("integer")) == 7);
    CHECK(std::get<double>(*record.find("real")) == 0.5);
    CHECK(std::get<std::string>(*record.find("text")) == "from 0");
  }
}

TEST_CASE("reports_of_ranks() returns the metrics of each rank, and nothing for invalid ones") {
  const auto all = on_three_ranks([](Communicator& communicator) {
    const auto rank = communicator.rank();
    const Metrics metrics{{rank == 1 ? "_invalid" : "x", rank}};
    return trainer::reports_of_ranks(metrics, 3, communicator);
  });
  for (const auto& records : all) {
    REQUIRE(records.size() == 3);
    CHECK(records[0].number("x") == 0);
    CHECK(records[1].values.empty());
    CHECK(records[2].number("x") == 2);
  }
}
