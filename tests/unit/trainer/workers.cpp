#include <catch2/catch.hpp>

#include "trainer/run_record.hpp"

using namespace trainrt::trainer;

TEST_CASE("the global batch is num_workers', or the first attempt's ranks', and other ranks' only where a run is elastic") {
  struct Case {
    int num_workers, min_workers, recorded, ranks, expected_record, expected;
  };
  for (const auto& c : {Case{0, 0, 0, 4, 4, 0},     // not elastic: whoever is there
                        Case{0, 0, 4, 2, 4, 0},     // also on other ranks
                        Case{0, 1, 0, 4, 4, 4},     // the first attempt
                        Case{0, 1, 4, 2, 4, 4},     // a later one, with fewer
                        Case{0, 1, 4, 6, 4, 4},     // and with more
                        Case{8, 2, 0, 3, 8, 8},     // the first attempt has fewer already
                        Case{8, 2, 4, 3, 8, 8}}) {  // a new number is the user's wish
    CAPTURE(c.num_workers, c.min_workers, c.recorded, c.ranks);
    RunSpec spec;
    spec.num_workers = c.num_workers;
    spec.min_workers = c.min_workers;
    RunRecord record;
    record.workers = c.recorded;
    CHECK(take_workers(record, spec, c.ranks) == c.expected);
    CHECK(record.workers == c.expected_record);
  }
}
