// Tests of the records of reports, with ranks as threads.
#include <catch2/catch.hpp>
#include <trainrt/trainrt.hpp>

#include "metrics/result_log.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

TEST_CASE("a report with different keys on the ranks is an error that names key and rank") {
  Scratch folder;
  CHECK_THROWS_WITH(run_on(3, spec_in(folder.path()),
                           [](Context& ctx) {
                             if (ctx.world_rank() == 2) ctx.report({{"loss", 1.0}, {"extra", 1.0}});
                             ctx.report({{"loss", 1.0}});
                           }),
                    Contains("extra") && Contains("rank 2"));
}

TEST_CASE("a report combines numbers by their operations, and takes strings from rank 0") {
  Scratch folder;
  run_on(3, spec_in(folder.path()), [](Context& ctx) {
    const double r = ctx.world_rank();
    ctx.report({{"mean", r},
                {"ratio", ratio(r, r)},
                {"sum", sum(r)},
                {"max", trainrt::max(r)},
                {"text", "from " + std::to_string(ctx.world_rank())}});
  });
  const auto records = metrics::read_results(folder.path() + "/r");
  REQUIRE(records.size() == 1);
  const auto number = [&](const char* key) { return std::get<double>(*records[0].find(key)); };
  CHECK(number("mean") == 1);
  CHECK(number("ratio") == 1);  // (0 + 1 + 2) / (0 + 1 + 2): rank 0 has weight 0
  CHECK(number("sum") == 3);
  CHECK(number("max") == 2);
  CHECK(std::get<std::string>(*records[0].find("text")) == "from 0");
}
