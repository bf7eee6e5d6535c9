#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "trainer/start/global_batch.hpp"

using namespace trainrt;
using namespace trainrt::config;
using namespace trainrt::rundir;
using namespace trainrt::trainer;
using Catch::Matchers::Contains;

TEST_CASE("a global batch that is kept has num_workers workers, or as many as the first attempt had ranks") {
  constexpr auto refuse = OnResize::refuse, keep = OnResize::keep_global_batch, keep_batch = OnResize::keep_batch;
  struct Case {
    int num_workers, min_workers;
    OnResize on_resize;
    int recorded, ranks, expected;
  };
  for (const auto& c : {Case{0, 0, refuse, 0, 4, 4},  // a new run
                        Case{0, 0, refuse, 4, 2, 2},  // nothing is saved yet
                        Case{0, 1, keep, 0, 4, 4},    // the first attempt
                        Case{0, 1, keep, 4, 2, 4},    // a later attempt with fewer ranks
                        Case{0, 1, keep, 4, 6, 4},    // ... with more ranks
                        Case{0, 0, keep, 4, 6, 4},    // also without min_workers
                        Case{8, 2, keep, 0, 3, 8},    // a first attempt with fewer ranks than workers
                        Case{8, 2, keep, 4, 3, 8},    // the config changed num_workers
                        Case{0, 1, keep_batch, 4, 2, 2}}) {
    CAPTURE(c.num_workers, c.min_workers, c.recorded, c.ranks);
    RunSpec spec;
    spec.run_dir = "/no/such/run";
    spec.scaling.num_workers = c.num_workers;
    spec.scaling.min_workers = c.min_workers;
    spec.scaling.on_resize_key = c.on_resize;
    RunRecord record;
    record.workers = c.recorded;
    const auto batch = global_batch(spec, record, c.ranks);
    CHECK(batch.now == c.expected);
    CHECK_FALSE(batch.changes());
    CHECK_NOTHROW(require_same_global_batch(spec, batch));
  }
}

TEST_CASE("a change of the global batch is an error with both sizes, unless scaling.on_resize allows it") {
  RunSpec spec;
  spec.run_dir = "/runs/x";
  spec.loop.set("batch_size", {"32", "x.ini:1"});
  CHECK_THROWS_WITH(require_same_global_batch(spec, {2, 3}), Contains("64 samples (32 for each of 2 workers)") &&
                                                                 Contains("96 samples (32 for each of 3 workers)") &&
                                                                 Contains("--scaling.on_resize=keep_global_batch") &&
                                                                 Contains("--scaling.on_resize=keep_batch"));
  CHECK_NOTHROW(require_same_global_batch(spec, {2, 2}));
  CHECK_NOTHROW(require_same_global_batch(spec, {0, 3}));
  spec.scaling.on_resize_key = OnResize::keep_batch;
  CHECK_NOTHROW(require_same_global_batch(spec, {2, 3}));
  spec.scaling.on_resize_key = OnResize::refuse;
  spec.loop.set("accumulate", {"2", "x.ini:2"});
  CHECK_THROWS_WITH(require_same_global_batch(spec, {2, 3}), Contains("128 samples (64 for each of 2 workers)"));
  CHECK_THROWS_WITH(require_same_global_batch(RunSpec{}, {1, 3}),
                    Contains("was one worker's batch;") && Contains("it would be 3 workers' batches,"));
}

TEST_CASE("with same_bits, another number of ranks than that of the first attempt is an error with the right command") {
  RunSpec spec;
  spec.run_dir = "/no/such/run";
  spec.scaling.on_resize_key = OnResize::same_bits;
  RunRecord record;
  record.workers = 4;
  CHECK_NOTHROW(require_same_global_batch(spec, global_batch(spec, std::nullopt, 2)));  // a new run
  CHECK_NOTHROW(require_same_global_batch(spec, global_batch(spec, record, 4)));
  const auto batch = global_batch(spec, record, 2);
  CHECK((batch.before == 4 && batch.now == 2));
  CHECK_THROWS_WITH(require_same_global_batch(spec, batch),
                    Contains("has 4 workers, but 2 ranks were launched") && Contains("start 4 ranks: trainrt -n 4") &&
                        Contains("srun --overcommit -n 4") && Contains("trainrt supervise"));
  spec.scaling.num_workers = 2;
  CHECK_THROWS_WITH(require_same_global_batch(spec, batch), Contains("remove scaling.num_workers = 2, and start 4 ranks"));
}
