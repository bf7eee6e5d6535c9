#include <catch2/catch.hpp>

#include "support/fake_gpus.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

std::size_t gpus_of_rank = 0, most_pinned = 0;
FakeGpus* all_gpus = nullptr;

void walk(Context& ctx) {
  auto data = ctx.dataset("train");
  gpus_of_rank = ctx.gpus().size();
  for (const auto& batch : data.epoch(0).batches(20)) {
    batch.field("x");
    most_pinned = std::max(most_pinned, all_gpus->pinned());
    ctx.step();
  }
}

/// A walk over batches of 20 KiB by a rank that works on those GPUs.
std::size_t most_pinned_with(const std::vector<int>& taken) {
  const Scratch dir;
  FakeGpus gpus(1);
  const device::ReplacedRuntime replaced(gpus);
  all_gpus = &gpus;
  gpus_of_rank = most_pinned = 0;
  run_launched(1, [&](launch::Launch& launch) {
    const auto communicator = comm::open_communicator(launch, {});
    launch.world().gpus = taken;
    trainer::run(spec_in(dir.path(), {{"data.train.features", "256"}}), {"test", walk}, launch, *communicator);
  });
  CHECK(gpus_of_rank == taken.size());
  CHECK(gpus.pinned() == 0);
  return most_pinned;
}

}  // namespace

TEST_CASE("the batches of a rank that has a GPU lie in locked memory, those of others do not") {
  CHECK(most_pinned_with({0}) == 1);
  CHECK(most_pinned_with({}) == 0);
}
